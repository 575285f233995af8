terraform {
  required_providers {
    runtimecloud = {
      source = "runtimecloud/runtimecloud"
    }
  }
}

# The endpoint and the token come from RUNTIMECLOUD_ENDPOINT and RUNTIMECLOUD_TOKEN.
provider "runtimecloud" {}

resource "runtimecloud_capacity_target" "local" {
  name   = "pool-local"
  driver = { process = {} }
  labels = { pool = "yes" }
}

resource "runtimecloud_environment" "dev" {
  name            = "pool-dev"
  target_selector = { pool = "yes" }
  depends_on      = [runtimecloud_capacity_target.local]
}

resource "runtimecloud_worker_pool" "web" {
  name        = "web"
  environment = runtimecloud_environment.dev.name
  size        = 2

  worker = {
    command   = ["sh", "-c", "exec python3 -m http.server --bind 127.0.0.1 $PORT_HTTP"]
    variables = { GREETING = "hello" }
    ports     = ["http"]
    shape     = { cpu = "100m", memory = "64Mi" }
  }

  readiness = {
    http     = { port = "http", path = "/" }
    interval = "500ms"
  }

  restart = { delay = "1s", delay_max = "30s" }
  stop    = { grace = "5s" }

  timeouts = { create = "2m", delete = "1m" }
}
