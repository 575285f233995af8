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

  worker = {
    command   = ["sh", "-c", "touch ready; exec sleep 3600"]
    variables = { COLOUR = "blue" }
    shape     = { cpu = "100m", memory = "33554432" }
  }

  readiness = {
    command           = ["test", "-e", "ready"]
    interval          = "0.1s"
    timeout           = "2000ms"
    failure_threshold = 5
  }

  restart = { delay = "0.5s", delay_max = "60s", healthy_after = "90s" }
  stop    = { signal = "INT", grace = "3s" }
  update  = { max_unavailable = 2 }
  labels  = { team = "a" }
}
