import { actingGates, featureGates, gateOf } from '@orch/core/feature-gates'
import { settingsOf, settingTypes } from '@orch/platform'

const { list } = settingTypes
const setting = settingsOf('API')

/** Which features are on, for all services that act on them. */
export const gateSettings = {
  emulatedVersion: setting({
    flag: '--emulated-version',
    type: list,
    defaultDoc: 'kube=1.25',
    doc: 'Release to be like, from 1.23 to 1.37, as kube=1.27 or 1.27: it decides the fields of types, the defaults of feature gates, and which group versions are served and deprecated. All services must agree. Above 1.25 rules, defaults and new kinds are not complete yet.',
  }),
  featureGates: setting({
    flag: '--feature-gates',
    type: list,
    doc: `Features to switch, such as APIListChunking=false. ${printActingGates()}`,
  }),
}

/** What is served; all services of a control plane must agree. */
export const apiSettings = {
  emulatedVersion: gateSettings.emulatedVersion,
  runtimeConfig: setting({
    flag: '--runtime-config',
    type: list,
    doc: 'Group versions and resources to enable or disable, such as api/beta=false or batch/v1beta1=true.',
  }),
  featureGates: gateSettings.featureGates,
}

/** `Available: APIListChunking (beta, true by default).` */
function printActingGates(): string {
  const gates = actingGates.flatMap((name) => {
    const gate = gateOf(name)
    return gate === undefined || gate.isLocked ? [] : [`${name} (${gate.stage}, ${gate.isOnByDefault} by default)`]
  })
  const deprecated = featureGates().flatMap(({ name, stage, isOnByDefault }) =>
    stage === 'deprecated' ? [`${name} (DEPRECATED, ${isOnByDefault})`] : [],
  )
  return `Available: ${gates.join(', ')}. Other known features have no effect here; setting one that is locked or deprecated prints a warning: ${deprecated.join(', ')}.`
}
