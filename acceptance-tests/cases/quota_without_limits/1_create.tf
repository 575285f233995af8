resource "runtimecloud_quota" "open" {
  name   = "open"
  limits = {}
}
