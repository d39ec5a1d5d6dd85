! SPDX-License-Identifier: MIT
! Copies a Fortran matrix to the device and back through the C interface, <roc/c.h>.

! The declarations of <roc/c.h> that this program uses. Handles are type(c_ptr). Tensors have no
! intent(in): a compiler may then assume that the elements to which they point do not change.
module roc_c
  use, intrinsic :: iso_c_binding
  implicit none

  integer(c_int32_t), parameter :: rocarray_success = 0
  integer(c_int32_t), parameter :: rocarray_error_shape = 2
  integer(c_int32_t), parameter :: rocarray_device_cpu = 1
  integer(c_int8_t), parameter :: rocarray_type_float = 2

  type, bind(c) :: roc_tensor
    type(c_ptr) :: data
    integer(c_int32_t) :: device_type
    integer(c_int32_t) :: device_id
    integer(c_int32_t) :: ndim
    integer(c_int8_t) :: type_code
    integer(c_int8_t) :: type_bits
    integer(c_int16_t) :: type_lanes
    type(c_ptr) :: shape
    type(c_ptr) :: strides
    integer(c_int64_t) :: byte_offset
  end type roc_tensor

  interface
    function roc_device_count(count) bind(c) result(status)
      import
      integer(c_int32_t), intent(out) :: count
      integer(c_int32_t) :: status
    end function
    function roc_device_type() bind(c) result(device_type)
      import
      integer(c_int32_t) :: device_type
    end function
    function roc_stream_create(kind, priority, stream) bind(c) result(status)
      import
      integer(c_int32_t), value :: kind, priority
      type(c_ptr), intent(out) :: stream
      integer(c_int32_t) :: status
    end function
    function roc_stream_synchronize(stream) bind(c) result(status)
      import
      type(c_ptr), value :: stream
      integer(c_int32_t) :: status
    end function
    function roc_stream_destroy(stream) bind(c) result(status)
      import
      type(c_ptr), value :: stream
      integer(c_int32_t) :: status
    end function
    function roc_allocate(resource, bytes, stream, data) bind(c) result(status)
      import
      type(c_ptr), value :: resource
      integer(c_size_t), value :: bytes
      type(c_ptr), value :: stream
      type(c_ptr), intent(out) :: data
      integer(c_int32_t) :: status
    end function
    function roc_free(data, stream) bind(c) result(status)
      import
      type(c_ptr), value :: data, stream
      integer(c_int32_t) :: status
    end function
    function roc_copy(from, to, options) bind(c) result(status)
      import
      type(roc_tensor) :: from, to
      type(c_ptr), value :: options
      integer(c_int32_t) :: status
    end function
    function roc_copy_async(from, to, stream, options) bind(c) result(status)
      import
      type(roc_tensor) :: from, to
      type(c_ptr), value :: stream, options
      integer(c_int32_t) :: status
    end function
    function roc_last_error_message() bind(c) result(message)
      import
      type(c_ptr) :: message
    end function
    function c_strlen(text) bind(c, name="strlen") result(length)
      import
      type(c_ptr), value :: text
      integer(c_size_t) :: length
    end function
  end interface

contains

  ! Returns a tensor of floats. The extents and strides must live as long as it is used.
  function tensor_of(data, device_type, extents, strides) result(tensor)
    type(c_ptr), intent(in) :: data
    integer(c_int32_t), intent(in) :: device_type
    integer(c_int64_t), intent(in), target :: extents(:), strides(:)
    type(roc_tensor) :: tensor
    tensor = roc_tensor(data, device_type, 0_c_int32_t, int(size(extents), c_int32_t), &
                        rocarray_type_float, 32_c_int8_t, 1_c_int16_t, c_loc(extents), &
                        c_loc(strides), 0_c_int64_t)
  end function

  ! Prints the message of the last error.
  subroutine print_last_error()
    character(kind=c_char), pointer :: text(:)
    type(c_ptr) :: message
    message = roc_last_error_message()
    call c_f_pointer(message, text, [c_strlen(message)])
    print "(*(a))", text
  end subroutine

  ! Ends the program unless the call has succeeded.
  subroutine check(status)
    integer(c_int32_t), intent(in) :: status
    if (status == rocarray_success) return
    call print_last_error()
    error stop 1
  end subroutine

end module roc_c

program fortran_round_trip
  use roc_c
  implicit none
  integer, parameter :: rows = 20, columns = 30
  ! Asynchronous, because the copies access them after roc_copy_async has returned.
  real(c_float), target, asynchronous :: source(rows, columns), back(rows, columns)
  integer(c_int64_t), target :: extents(2), fortran_order(2), c_order(2)
  type(roc_tensor) :: from, device, to
  type(c_ptr) :: memory, stream
  integer(c_int32_t) :: count
  logical :: is_same
  integer :: i, j

  call check(roc_device_count(count))
  if (count == 0) then
    print "(a)", "no device"
    stop 77
  end if
  do j = 1, columns
    do i = 1, rows
      source(i, j) = real(1000 * i + j, c_float)
    end do
  end do
  back = 0
  extents = [rows, columns]
  fortran_order = [1, rows]
  c_order = [columns, 1]

  call check(roc_stream_create(0_c_int32_t, 0_c_int32_t, stream))
  call check(roc_allocate(c_null_ptr, c_sizeof(source), stream, memory))
  from = tensor_of(c_loc(source), rocarray_device_cpu, extents, fortran_order)
  device = tensor_of(memory, roc_device_type(), extents, c_order)  ! transposed on the way
  to = tensor_of(c_loc(back), rocarray_device_cpu, extents, fortran_order)
  call check(roc_copy_async(from, device, stream, c_null_ptr))
  call check(roc_copy_async(device, to, stream, c_null_ptr))
  call check(roc_stream_synchronize(stream))
  is_same = all(source == back)

  ! Errors are statuses with a message.
  to%ndim = 1
  if (roc_copy(device, to, c_null_ptr) /= rocarray_error_shape) error stop 2
  call print_last_error()

  call check(roc_free(memory, stream))
  call check(roc_stream_destroy(stream))
  print "(a, a)", "fortran round trip: ", merge("correct", "wrong  ", is_same)
  if (.not. is_same) error stop 3
end program fortran_round_trip
