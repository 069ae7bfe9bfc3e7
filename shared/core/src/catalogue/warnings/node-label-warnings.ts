import { memo } from '@orch/cel/memo'
import { isJsonObject } from '../../json/member.ts'
import type { WarningContext } from '../../kind/define-resource.ts'
import { checkLabelValue, textAt } from '../../meta/index.ts'
import { domainLabel, type Names, subdomainLabel } from '../../names.ts'
import { itemsOf, type Part, partOf, textOf } from '../../validation/part.ts'

/** The names and the level of a server. */
export interface Release {
  readonly names: Names
  readonly level: number
}

/** The warnings about deprecated node labels, by label. */
export const formerNodeLabels: (names: Names) => Readonly<Record<string, string>> = memo((names: Names) => makeFormerNodeLabels(names))

function makeFormerNodeLabels(names: Names): Readonly<Record<string, string>> {
  const instead = (since: string, label: string): string => `deprecated since ${since}; use ${JSON.stringify(label)} instead`
  return {
    [subdomainLabel(names, 'beta', 'arch')]: instead('v1.14', domainLabel(names, 'arch')),
    [subdomainLabel(names, 'beta', 'os')]: instead('v1.14', domainLabel(names, 'os')),
    [subdomainLabel(names, 'failure-domain.beta', 'region')]: instead('v1.17', subdomainLabel(names, 'topology', 'region')),
    [subdomainLabel(names, 'failure-domain.beta', 'zone')]: instead('v1.17', subdomainLabel(names, 'topology', 'zone')),
    [subdomainLabel(names, 'beta', 'instance-type')]: instead('v1.17', subdomainLabel(names, 'node', 'instance-type')),
  }
}

/** The warnings about the labels of a node selector term. */
export function warningsOfNodeTerm(term: Part, path: string, names: Names): string[] {
  return itemsOf(term, 'matchExpressions').flatMap((expression, index) => ofKey(expression, `${path}.matchExpressions[${index}]`, names))
}

/** The first level that warns about invalid label values. */
const valuesCheckedSince = 33

/** Like `warningsOfNodeTerm`, for a preferred term, whose values are not validated. */
export function warningsOfPreference(term: Part, path: string, { names, level }: Release): string[] {
  return itemsOf(term, 'matchExpressions').flatMap((expression, index) => {
    const at = `${path}.matchExpressions[${index}]`
    const values = level < valuesCheckedSince ? [] : itemsOf<string>(expression, 'values')
    return [
      ...ofKey(expression, at, names),
      ...values.flatMap((value, place) =>
        checkLabelValue(value).map((problem) => `${at}.values[${place}]: ${value} is invalid, ${textAt(problem, level)}`),
      ),
    ]
  })
}

function ofKey(expression: Part, path: string, names: Names): string[] {
  const [messages, key] = [formerNodeLabels(names), textOf(expression, 'key')]
  return Object.hasOwn(messages, key) ? [`${path}.key: ${key} is ${messages[key]}`] : []
}

/** The first level that warns about the reclaim policy Recycle. */
const recyclingWarnedSince = 30

function ofReclaiming(spec: Part, level: number): string[] {
  if (level < recyclingWarnedSince || textOf(spec, 'persistentVolumeReclaimPolicy') !== 'Recycle') return []
  const instead = 'Instead, the recommended approach is to use dynamic provisioning.'
  return [`spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. ${instead}`]
}

/** The warnings about a PersistentVolume: deprecated annotations, its reclaim policy, its node affinity, and its kind. */
export function warningsOfVolume(volume: Part, _live: Part | undefined, names: Names, { level }: WarningContext): string[] {
  const path = 'spec.nodeAffinity.required.nodeSelectorTerms'
  const spec = partOf(volume, 'spec')
  const terms = itemsOf(partOf(partOf(spec, 'nodeAffinity'), 'required'), 'nodeSelectorTerms')
  const ofPlugins = formerPlugins.filter(({ field }) => level >= pluginsWarnedSince && isJsonObject(spec[field]))
  const annotations = partOf(partOf(volume, 'metadata'), 'annotations')
  const ofAnnotations = formerAnnotations.flatMap(({ name, since, text }) => {
    const key = subdomainLabel(names, 'volume.beta', name)
    return level >= since && annotations[key] !== undefined ? [`metadata.annotations[${key}]: ${text}`] : []
  })
  return [
    ...ofAnnotations,
    ...ofReclaiming(spec, level),
    ...terms.flatMap((term, index) => warningsOfNodeTerm(term, `${path}[${index}]`, names)),
    ...ofPlugins.map(({ shown, text }) => `spec.${shown}: ${text}`),
  ]
}

/** Annotations of volumes that fields replace, with the first level that warns about each. */
const formerAnnotations = [
  { name: 'storage-class', since: 28, text: 'deprecated since v1.8; use "storageClassName" attribute instead' },
  { name: 'mount-options', since: 31, text: 'deprecated since v1.31; use "mountOptions" attribute instead' },
] as const

/** Kinds of volumes that nodes no longer support, and the first level that warns about them. */
const pluginsWarnedSince = 28
const formerPlugins = [
  { field: 'cephfs', shown: 'cephfs', text: 'deprecated in v1.28, non-functional in v1.31+' },
  { field: 'photonPersistentDisk', shown: 'photonPersistentDisk', text: 'deprecated in v1.11, non-functional in v1.16+' },
  { field: 'scaleIO', shown: 'scaleIO', text: 'deprecated in v1.16, non-functional in v1.22+' },
  { field: 'storageos', shown: 'storageOS', text: 'deprecated in v1.22, non-functional in v1.25+' },
  { field: 'glusterfs', shown: 'glusterfs', text: 'deprecated in v1.25, non-functional in v1.26+' },
  { field: 'rbd', shown: 'rbd', text: 'deprecated in v1.28, non-functional in v1.31+' },
] as const

/** The warnings about a RuntimeClass's node selector. */
export function warningsOfRuntimeClass(runtimeClass: Part, _live: Part | undefined, names: Names): string[] {
  const keys = Object.keys(partOf(partOf(runtimeClass, 'scheduling'), 'nodeSelector'))
  return keys.flatMap((key) => saidOf(key, 'scheduling.nodeSelector', names))
}

/** The warnings about a StorageClass's topologies. */
export function warningsOfStorageClass(storageClass: Part, _live: Part | undefined, names: Names): string[] {
  return itemsOf(storageClass, 'allowedTopologies').flatMap((topology, index) =>
    ofExpressions(itemsOf(topology, 'matchLabelExpressions'), `allowedTopologies[${index}].matchLabelExpressions`, names),
  )
}

/** The warnings about a CSIStorageCapacity's topology. */
export function warningsOfStorageCapacity(capacity: Part, _live: Part | undefined, names: Names): string[] {
  const topology = partOf(capacity, 'nodeTopology')
  return [
    ...warningsOfNodeTerm(topology, 'nodeTopology', names),
    ...Object.keys(partOf(topology, 'matchLabels')).flatMap((key) => saidOf(key, `nodeTopology.matchLabels.${key}`, names)),
  ]
}

function ofExpressions(expressions: readonly Part[], path: string, names: Names): string[] {
  return expressions.flatMap((expression, index) => saidOf(textOf(expression, 'key'), `${path}[${index}].key`, names))
}

function saidOf(key: string, field: string, names: Names): string[] {
  const messages = formerNodeLabels(names)
  return Object.hasOwn(messages, key) ? [`${field}: ${messages[key]}`] : []
}
