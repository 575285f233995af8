resource "runtimecloud_environment" "dev" {
  name = "dev"
}
