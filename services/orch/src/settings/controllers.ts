import { setting, settingTypes } from '@orch/platform'

const { list } = settingTypes

/** Which controllers run. */
export const controllersSettings = {
  controllers: setting({
    flag: '--controllers',
    env: 'ORCH_CONTROLLERS',
    type: list,
    default: '*',
    group: 'API',
    doc: 'Controllers to run: * is all but tokencleaner and bootstrapsigner, a name one more, a name with a dash before it one less. Known: namespace, bootstrap, garbage-collector, clusterrole-aggregation, flow-control, serviceaccount-token, tokencleaner, bootstrapsigner.',
  }),
}
