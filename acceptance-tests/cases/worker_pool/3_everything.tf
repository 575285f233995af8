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
    shape     = { cpu = "0.1", memory = "32Mi" }
  }

  readiness = {
    command           = ["test", "-e", "ready"]
    interval          = "100ms"
    timeout           = "2s"
    failure_threshold = 5
  }

  restart = { delay = "500ms", delay_max = "1m", healthy_after = "1m30s" }
  stop    = { signal = "INT", grace = "3s" }
  update  = { max_unavailable = 2 }
  labels  = { team = "a" }
}
