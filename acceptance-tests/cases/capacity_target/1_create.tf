resource "runtimecloud_capacity_target" "here" {
  name     = "here"
  driver   = { process = {} }
  capacity = { cpu = "1.5", memory = "1024Mi", gpus = "2" }
  labels   = { region = "here", tier = "one" }
}

resource "runtimecloud_capacity_target" "bare" {
  name   = "bare"
  driver = { process = {} }
}
