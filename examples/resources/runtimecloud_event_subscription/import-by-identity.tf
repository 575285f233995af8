# An identity is the id that the host chose; a data source finds it by name.
data "runtimecloud_event_subscription" "chat" {
  name = "chat"
}

import {
  to = runtimecloud_event_subscription.chat
  identity = {
    id = data.runtimecloud_event_subscription.chat.id
  }
}
