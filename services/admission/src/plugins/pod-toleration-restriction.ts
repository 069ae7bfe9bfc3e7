import { type Attributes, objectKey } from '@orch/core/contracts'
import { jsonEqual } from '@orch/core/json'
import { internal, notFound } from '@orch/core/meta'
import { domainGroup, type Names, subdomainLabel } from '@orch/core/names'
import { qosClassOf } from '@orch/core/quota'
import { parseStored } from '@orch/core/schema'
import { ConfigurationError, type PluginConfiguration, parseVersioned } from '../configuration.ts'
import { allowed, denied, forbid, type Plugin, type PluginNeeds } from '../plugin.ts'
import { admissionRuleFor } from './objects.ts'
import { podOf, type Toleration, withSpec } from './pod.ts'
import { covers, mergeTolerations } from './tolerations.ts'

interface Restriction {
  readonly defaults: readonly Toleration[]
  readonly whitelist: readonly Toleration[]
  readonly whitelistScope: 'namespace' | 'cluster'
}

/** PodTolerationRestriction: Pods get the tolerations of their namespace, and only tolerations on its list. */
export function podTolerationRestriction({ storage, catalogue: { names }, configuration }: PluginNeeds): Plugin {
  const cluster = readConfiguration(configuration, names)
  const annotations = {
    defaults: subdomainLabel(names, 'scheduler.alpha', 'defaultTolerations'),
    whitelist: subdomainLabel(names, 'scheduler.alpha', 'tolerationsWhitelist'),
  }
  const memoryPressure: Toleration = { key: subdomainLabel(names, 'node', 'memory-pressure'), operator: 'Exists', effect: 'NoSchedule' }
  /** The current state in storage, as a decision about a Pod must not be based on old data. */
  const restrictionOf = async (namespace: string): Promise<Restriction> => {
    const { entry } = await storage.get({ key: objectKey('core/namespaces', undefined, namespace), read: { kind: 'latest' } })
    if (entry === undefined) throw notFound({ group: '', resource: 'namespaces' }, namespace)
    const { metadata } = parseStored('core/v1.Namespace', entry.value)
    const said = (annotation: string) => tolerationsIn(metadata.annotations?.[annotation], annotation, namespace)
    const whitelist = said(annotations.whitelist)
    return {
      defaults: said(annotations.defaults) ?? cluster.defaults,
      whitelist: whitelist ?? cluster.whitelist,
      whitelistScope: whitelist === undefined ? 'cluster' : 'namespace',
    }
  }
  const check = (attributes: Attributes, tolerations: readonly Toleration[], { whitelist, whitelistScope }: Restriction) => {
    if (whitelist.length === 0 || tolerations.every((one) => whitelist.some((listed) => covers(listed, one)))) return undefined
    const why = `pod tolerations (possibly merged with namespace default tolerations) conflict with its ${whitelistScope} whitelist`
    return denied(forbid(attributes, why))
  }
  return {
    admissionRules: [admissionRuleFor('*', ['CREATE', 'UPDATE'], '', ['pods'])],
    async mutate(attributes) {
      const pod = podOf(attributes)
      const restriction = await restrictionOf(attributes.namespace)
      const extra = [
        ...(attributes.operation === 'CREATE' ? restriction.defaults : []),
        ...(qosClassOf(pod.spec) === 'BestEffort' ? [] : [memoryPressure]),
      ]
      const before = pod.spec.tolerations ?? []
      const tolerations = extra.length === 0 ? before : mergeTolerations(before, extra)
      const refusal = check(attributes, tolerations, restriction)
      if (refusal !== undefined) return refusal
      return jsonEqual(before, tolerations) ? allowed : { kind: 'allowed', object: withSpec(pod, { tolerations }) }
    },
    async validate(attributes) {
      const tolerations = podOf(attributes).spec.tolerations ?? []
      if (tolerations.length === 0) return allowed
      return check(attributes, tolerations, await restrictionOf(attributes.namespace)) ?? allowed
    },
  }
}

function tolerationsIn(text: string | undefined, annotation: string, namespace: string): readonly Toleration[] | undefined {
  if (text === undefined || text === '') return undefined
  try {
    const value: unknown = JSON.parse(text)
    if (value === null) return undefined
    if (Array.isArray(value)) return value
  } catch {
    // Reported below, like any other text that is not a list.
  }
  throw internal(`namespace ${namespace}: the annotation ${annotation} is no list of tolerations: ${JSON.stringify(text)}`)
}

function readConfiguration(configuration: PluginConfiguration | undefined, names: Names): Omit<Restriction, 'whitelistScope'> {
  if (configuration === undefined) return { defaults: [], whitelist: [] }
  const apiVersion = `${domainGroup(names, 'podtolerationrestriction.admission')}/v1alpha1`
  const { default: defaults = [], whitelist = [], ...rest } = parseVersioned(configuration, [{ kind: 'Configuration', apiVersion }])
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined) throw new ConfigurationError(`${configuration.file}: ${unknown}: there is no such field`)
  if (!Array.isArray(defaults) || !Array.isArray(whitelist)) {
    throw new ConfigurationError(`${configuration.file}: default and whitelist: expected lists of tolerations`)
  }
  return { defaults, whitelist }
}
