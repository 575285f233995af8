// kept as it is
resource "aws_thing" "a" {
  name = "x"
  size = 1 // small

  lifecycle {
    prevent_destroy = true
  }
}
