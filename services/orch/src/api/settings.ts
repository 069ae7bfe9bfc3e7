import { actingGates, featureGates, gateOf } from '@orch/core/feature-gates'
import { setting, settingTypes } from '@orch/platform'

const { list } = settingTypes

/** What is served; all services of a control plane must agree. */
export const apiSettings = {
  runtimeConfig: setting({
    flag: '--runtime-config',
    env: 'ORCH_RUNTIME_CONFIG',
    type: list,
    default: '',
    group: 'API',
    doc: 'Group versions and resources to enable or disable, such as api/beta=false or batch/v1beta1=true.',
  }),
  featureGates: setting({
    flag: '--feature-gates',
    env: 'ORCH_FEATURE_GATES',
    type: list,
    default: '',
    group: 'API',
    doc: `Features to switch, such as APIListChunking=false. ${printActingGates()}`,
  }),
}

/** `Available: APIListChunking (beta, true by default).` */
function printActingGates(): string {
  const gates = actingGates.map((name) => {
    const gate = gateOf(name)
    return `${name} (${gate?.stage}, ${gate?.isOnByDefault} by default)`
  })
  const deprecated = featureGates().flatMap(({ name, stage, isOnByDefault }) =>
    stage === 'deprecated' ? [`${name} (DEPRECATED, ${isOnByDefault})`] : [],
  )
  return `Available: ${gates.join(', ')}. Other known features have no effect here; setting one that is locked or deprecated prints a warning: ${deprecated.join(', ')}.`
}
