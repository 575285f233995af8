resource "runtimecloud_service_account" "ci" {
  name                = "ci"
  role                = "editor"
  description         = "Deploys."
  disabled            = true
  labels              = { team = "a" }
  deletion_protection = false
}
