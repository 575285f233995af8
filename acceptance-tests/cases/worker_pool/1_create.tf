resource "runtimecloud_capacity_target" "local" {
  name   = "local"
  driver = { process = {} }
}

resource "runtimecloud_environment" "dev" {
  name       = "dev"
  depends_on = [runtimecloud_capacity_target.local]
}

resource "runtimecloud_worker_pool" "work" {
  name        = "work"
  environment = runtimecloud_environment.dev.name
  size        = 2
  worker      = { command = ["sleep", "3600"] }
}
