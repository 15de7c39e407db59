"""Sample pictures and their truth; `python -m sample_images.make` makes them."""
