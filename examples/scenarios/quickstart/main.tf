# A team's fleet of web workers on this machine, under a quota.

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
  name     = "local"
  driver   = { process = {} }
  capacity = { cpu = "2", memory = "4Gi" }
  labels   = { region = "here" }
}

resource "runtimecloud_quota" "team_a" {
  name = "team-a"
  limits = {
    cpu     = { hard = "2" }
    memory  = { hard = "2Gi" }
    workers = { hard = 20, soft = 10 }
  }
}

resource "runtimecloud_environment" "dev" {
  name            = "dev"
  quota           = runtimecloud_quota.team_a.name
  target_selector = { region = "here" }
  depends_on      = [runtimecloud_capacity_target.local]
}

resource "runtimecloud_worker_pool" "web" {
  name        = "web"
  environment = runtimecloud_environment.dev.name
  size        = 3 # each worker listens on a port of its own

  worker = {
    command = ["sh", "-c", "exec python3 -m http.server --bind 127.0.0.1 $PORT_HTTP"]
    ports   = ["http"]
    shape   = { cpu = "100m", memory = "64Mi" }
  }

  readiness = { http = { port = "http", path = "/" } }
}
