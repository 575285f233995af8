resource "runtimecloud_quota" "org" {
  name   = "org"
  limits = { cpu = { hard = "2" } }
}

resource "runtimecloud_quota" "team" {
  name   = "team"
  parent = runtimecloud_quota.org.name
  limits = { cpu = { hard = "3" } }
}

resource "runtimecloud_environment" "dev" {
  name  = "dev"
  quota = runtimecloud_quota.team.name
}

resource "runtimecloud_capacity_lease" "batch" {
  name        = "batch"
  environment = runtimecloud_environment.dev.name
  amounts     = { cpu = "2500m" }
}
