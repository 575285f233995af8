resource "aws_thing" "n" {
  for_each = toset(["x", "y"])

  size = 1
  zone = "z"
}
