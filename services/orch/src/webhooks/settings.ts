import { setting, settingTypes } from '@orch/platform'

const { list } = settingTypes

/** Where the webhooks of configurations and definitions are. */
export const webhookSettings = {
  webhookServiceMap: setting({
    flag: '--webhook-service-map',
    env: 'ORCH_WEBHOOK_SERVICE_MAP',
    type: list,
    default: '',
    group: 'Admission',
    doc: 'Addresses of Services that webhooks and APIServices refer to, as namespace/name=host:port. Other Services are resolved by their endpoints, external name or DNS.',
  }),
}
