variable "size" { default = 1 }

resource "aws_thing" "w" {
  size = var.size
  name = lower("N")
  mode = var.size > 0 ? "m" : "n"
  doc  = <<-EOT
    a
  EOT
  text = "x-${var.size}"
  op   = 2 + 3
  list = [
    "a",
  ]
  gone = "here" # not for long

  rule {
    port = 1
  }

  rule {
    port = 2 # the second
  }

  dynamic "tag" {
    for_each = ["a"]
    content {
      k = tag.value
    }
  }
}
