resource "runtimecloud_capacity_target" "here" {
  name     = "here"
  driver   = { process = {} }
  capacity = { cpu = "2", memory = "1Gi" }
  cordoned = true
  labels   = { region = "there" }
}

resource "runtimecloud_capacity_target" "bare" {
  name   = "bare"
  driver = { process = {} }
}
