# In a file `NAME.tfquery.hcl`, for `terraform query` (1.14 or newer).
list "runtimecloud_event_subscription" "chat" {
  provider = runtimecloud

  config {
    labels = { to = "chat" }
  }
}
