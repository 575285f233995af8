resource "runtimecloud_capacity_target" "local" {
  name   = "local"
  driver = { process = {} }
}

resource "runtimecloud_environment" "dev" {
  name       = "dev"
  depends_on = [runtimecloud_capacity_target.local]
}

resource "runtimecloud_worker_pool" "work" {
  name        = "other"
  environment = runtimecloud_environment.dev.name
  size        = 1

  worker = {
    command = ["python3", "-m", "http.server", "--bind", "127.0.0.1", "0"]
  }
}
