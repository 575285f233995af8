variable "token" {
  type      = string
  sensitive = true
  default   = "tok-8c1f0e2d"
}

variable "size" {
  type    = number
  default = 9007199254740993
}

resource "terraform_data" "service" {
  input = {
    name  = "web"
    size  = var.size
    token = var.token
    tags  = { owner = "b" }
  }
}

resource "terraform_data" "database" {
  triggers_replace = ["16"]
}

resource "terraform_data" "new_name" {
  for_each = toset(["a.b", "c\"d"])
  input    = each.key
}

output "service" {
  value = terraform_data.service.output.name
}
output "token" {
  value     = terraform_data.service.output
  sensitive = true
}

moved {
  from = terraform_data.old_name
  to   = terraform_data.new_name
}
