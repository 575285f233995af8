resource "runtimecloud_quota" "team" {
  name   = "team"
  limits = { cpu = { hard = "2" }, leases = { hard = "2" } }
}

resource "runtimecloud_environment" "dev" {
  name  = "dev"
  quota = runtimecloud_quota.team.name
}

resource "runtimecloud_capacity_lease" "batch" {
  name        = "batch"
  environment = runtimecloud_environment.dev.name
  amounts     = { cpu = "1", memory = "64Mi" }
  ttl         = "2h"
  max_life    = "24h"
  holder      = "ci"
  purpose     = "the nightly run"
  priority    = -5
  wait        = "10m"
  labels      = { team = "a" }
}
