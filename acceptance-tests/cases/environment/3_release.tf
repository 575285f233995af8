resource "runtimecloud_environment" "dev" {
  name      = "dev"
  variables = { MODE = "test" }
}
