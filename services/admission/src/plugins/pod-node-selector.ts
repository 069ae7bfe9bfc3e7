import { type Attributes, objectKey } from '@orch/core/contracts'
import { at, isJsonObject } from '@orch/core/json'
import { internal, notFound } from '@orch/core/meta'
import { subdomainLabel } from '@orch/core/names'
import { parseStored } from '@orch/core/schema'
import { parseLabelSelector } from '@orch/core/selectors'
import { ConfigurationError, type PluginConfiguration } from '../configuration.ts'
import { allowed, denied, forbid, type Plugin, type PluginNeeds, type Verdict } from '../plugin.ts'
import { admissionRuleFor } from './objects.ts'
import { podOf, withSpec } from './pod.ts'

type Labels = Readonly<Record<string, string>>

/** The entry for namespaces without their own selector. */
const defaultEntry = 'clusterDefaultNodeSelector'

/** PodNodeSelector: Pods get the node selector of their namespace, from its annotation or the configuration. */
export function podNodeSelector({ storage, catalogue: { names }, configuration }: PluginNeeds): Plugin {
  const configured = readConfiguration(configuration)
  const annotation = subdomainLabel(names, 'scheduler.alpha', 'node-selector')
  /** The current state in storage, as a decision about a Pod must not be based on old data. */
  const selectorOf = async (namespace: string): Promise<Labels> => {
    const { entry } = await storage.get({ key: objectKey('core/namespaces', undefined, namespace), read: { kind: 'latest' } })
    if (entry === undefined) throw notFound({ group: '', resource: 'namespaces' }, namespace)
    const text = parseStored('core/v1.Namespace', entry.value).metadata.annotations?.[annotation]
    if (text === undefined) return configured.get(defaultEntry) ?? {}
    const labels = parseLabels(text)
    if (labels === undefined)
      throw internal(`namespace ${namespace}: the annotation ${annotation} is no set of labels: ${JSON.stringify(text)}`)
    return labels
  }
  const check = (attributes: Attributes, wanted: Labels, given: Labels): Verdict | undefined => {
    const isConflict = Object.entries(wanted).some(([key, value]) => given[key] !== undefined && given[key] !== value)
    if (isConflict) return denied(forbid(attributes, 'pod node label selector conflicts with its namespace node label selector'))
    const whitelist = configured.get(attributes.namespace) ?? {}
    const isListed = Object.entries({ ...given, ...wanted }).every(([key, value]) => whitelist[key] === value)
    if (Object.keys(whitelist).length === 0 || isListed) return undefined
    return denied(forbid(attributes, 'pod node label selector labels conflict with its namespace whitelist'))
  }
  return {
    admissionRules: [admissionRuleFor('*', ['CREATE'], '', ['pods'])],
    async mutate(attributes) {
      const pod = podOf(attributes)
      const wanted = await selectorOf(attributes.namespace)
      const refusal = check(attributes, wanted, pod.spec.nodeSelector ?? {})
      if (refusal !== undefined) return refusal
      if (Object.keys(wanted).length === 0) return allowed
      return { kind: 'allowed', object: withSpec(pod, { nodeSelector: { ...pod.spec.nodeSelector, ...wanted } }) }
    },
    async validate(attributes) {
      const given = podOf(attributes).spec.nodeSelector ?? {}
      return check(attributes, await selectorOf(attributes.namespace), given) ?? allowed
    },
  }
}

function readConfiguration(configuration: PluginConfiguration | undefined): ReadonlyMap<string, Labels> {
  const selectors = new Map<string, Labels>()
  if (configuration === undefined) return selectors
  const { value, file } = configuration
  const { podNodeSelectorPluginConfig: entries, ...rest } = isJsonObject(value) ? value : {}
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined) throw new ConfigurationError(`${file}: ${unknown}: expected podNodeSelectorPluginConfig alone`)
  for (const [namespace, text] of Object.entries(entries ?? {})) {
    const labels = typeof text === 'string' ? parseLabels(text) : undefined
    if (labels === undefined) {
      throw new ConfigurationError(`${file}: podNodeSelectorPluginConfig.${namespace}: expected labels such as "env=test,disk=ssd"`)
    }
    selectors.set(namespace, labels)
  }
  return selectors
}

/** `a=b,c=d`; '' for no labels. */
function parseLabels(text: string): Labels | undefined {
  if (text.trim() === '') return {}
  const reading = parseLabelSelector(text)
  if (reading.kind !== 'selector') return undefined
  const labels: Record<string, string> = {}
  for (const { key, operator, values } of reading.requirements) {
    if (operator !== 'In' || values.length !== 1) return undefined
    labels[key] = at(values, 0)
  }
  return labels
}
