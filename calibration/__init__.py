"""What a camera is (lens, place) and what colours look like under this light."""
