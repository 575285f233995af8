resource "runtimecloud_quota" "org" {
  name           = "org"
  limits         = { cpu = { hard = "4" } }
  reclaim_notice = "10s"
}

resource "runtimecloud_quota" "team" {
  name   = "team"
  parent = runtimecloud_quota.org.name
  limits = { cpu = { share = "2", borrowing = "1", lending = "500m" } }
}

resource "runtimecloud_environment" "dev" {
  name  = "dev"
  quota = runtimecloud_quota.team.name
}

resource "runtimecloud_capacity_lease" "batch" {
  name        = "batch"
  environment = runtimecloud_environment.dev.name
  amounts     = { cpu = "3500m" }
  preemption  = "reclaimable"
}
