import { isWholeQuantity, parseQuantity } from '../../meta/quantity.ts'
import { type Names, subdomainLabel } from '../../names.ts'
import { isGiven } from '../validation/checks.ts'
import { itemsOf, type Part, partOf, textOf } from '../validation/part.ts'
import { formerNodeLabels, warningsOfNodeTerm } from './node-label-warnings.ts'

/** What is said of a new Pod. */
export function warningsOfPod(pod: Part, names: Names): string[] {
  return warningsOfTemplate(pod, '', names)
}

/** What is said of a template of Pods, in the order of kube-apiserver; `path` is its own. */
export function warningsOfTemplate(template: Part, path: string, names: Names): string[] {
  const prefix = path === '' ? '' : `${path}.`
  const spec = partOf(template, 'spec')
  const annotations = partOf(partOf(template, 'metadata'), 'annotations')
  const at = { spec: `${prefix}spec`, annotations: `${prefix}metadata.annotations` }
  return [
    ...ofNodeLabels(spec, at.spec, names),
    ...ofFormerAnnotations(annotations, at.annotations, names),
    ...ofVolumes(spec, `${at.spec}.volumes`),
    ...repeated(itemsOf(spec, 'hostAliases'), 'ip', `${at.spec}.hostAliases`),
    ...repeated(itemsOf(spec, 'imagePullSecrets'), 'name', `${at.spec}.imagePullSecrets`),
    ...ofNamelessSecrets(spec, `${at.spec}.imagePullSecrets`),
    ...ofBytes(partOf(spec, 'overhead'), `${at.spec}.overhead`),
    ...ofSeccomp(spec, { annotations, path: at.annotations, key: `${seccompDomain(names)}/pod` }),
    ...['initContainers', 'containers', 'ephemeralContainers'].flatMap((list) =>
      itemsOf(spec, list).flatMap((container, index) => [
        ...ofSeccomp(container, { annotations, path: at.annotations, key: seccompKey(names, container) }),
        ...ofAmounts(partOf(container, 'resources'), `${at.spec}.${list}[${index}].resources`),
        ...repeated(itemsOf(container, 'env'), 'name', `${at.spec}.${list}[${index}].env`),
      ]),
    ),
  ]
}

/** What is said of labels of nodes that have others in their place. */
function ofNodeLabels(spec: Part, path: string, names: Names): string[] {
  const messages = formerNodeLabels(names)
  const ofKey = (key: string, field: string): string[] => (Object.hasOwn(messages, key) ? [`${field}: ${key} is ${messages[key]}`] : [])
  const ofTerm = (term: Part, at: string): string[] => warningsOfNodeTerm(term, at, names)
  const affinity = partOf(partOf(spec, 'affinity'), 'nodeAffinity')
  const at = `${path}.affinity.nodeAffinity`
  const [required, preferred] = ['requiredDuringSchedulingIgnoredDuringExecution', 'preferredDuringSchedulingIgnoredDuringExecution']
  return [
    ...Object.keys(partOf(spec, 'nodeSelector'))
      .filter((key) => Object.hasOwn(messages, key))
      .map((key) => `${path}.nodeSelector[${key}]: ${messages[key]}`),
    ...itemsOf(partOf(affinity, required), 'nodeSelectorTerms').flatMap((term, index) =>
      ofTerm(term, `${at}.${required}.nodeSelectorTerms[${index}]`),
    ),
    ...itemsOf(affinity, preferred).flatMap((term, index) => ofTerm(partOf(term, 'preference'), `${at}.${preferred}[${index}].preference`)),
    ...itemsOf(spec, 'topologySpreadConstraints').flatMap((constraint, index) =>
      ofKey(textOf(constraint, 'topologyKey'), `${path}.topologySpreadConstraints[${index}].topologyKey`),
    ),
  ]
}

function ofFormerAnnotations(annotations: Part, path: string, names: Names): string[] {
  const former: readonly (readonly [key: string, message: string])[] = [
    [subdomainLabel(names, 'scheduler.alpha', 'critical-pod'), 'non-functional in v1.16+; use the "priorityClassName" field instead'],
    [subdomainLabel(names, 'security.alpha', 'sysctls'), 'non-functional in v1.11+; use the "sysctls" field instead'],
    [subdomainLabel(names, 'security.alpha', 'unsafe-sysctls'), 'non-functional in v1.11+; use the "sysctls" field instead'],
  ]
  return former.filter(([key]) => isGiven(annotations, key)).map(([key, message]) => `${path}[${key}]: ${message}`)
}

/** Kinds of volumes that are going: the field, how the path calls it, what is said. */
const formerVolumes: readonly (readonly [field: string, shown: string, message: string])[] = [
  ['photonPersistentDisk', 'photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['gitRepo', 'gitRepo', 'deprecated in v1.11'],
  ['scaleIO', 'scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['flocker', 'flocker', 'deprecated in v1.22, support removal is planned in v1.26'],
  ['storageos', 'storageOS', 'deprecated in v1.22, support removal is planned in v1.26'],
  ['quobyte', 'quobyte', 'deprecated in v1.22, support removal is planned in v1.26'],
  ['glusterfs', 'glusterfs', 'deprecated in v1.25, this feature will be removed soon after in a subsequent release'],
]

function ofVolumes(spec: Part, path: string): string[] {
  return itemsOf(spec, 'volumes').flatMap((volume, index) =>
    formerVolumes.filter(([field]) => isGiven(volume, field)).map(([, shown, message]) => `${path}[${index}].${shown}: ${message}`),
  )
}

/** What is said of each item that has the same text in a field as one before it. */
function repeated(items: readonly Part[], name: string, path: string): string[] {
  const seen = new Set<string>()
  return items.flatMap((item, index) => {
    const text = textOf(item, name)
    if (seen.has(text)) return [`${path}[${index}].${name}: duplicate ${name} ${JSON.stringify(text)}`]
    seen.add(text)
    return []
  })
}

function ofNamelessSecrets(spec: Part, path: string): string[] {
  return itemsOf(spec, 'imagePullSecrets').flatMap((secret, index) =>
    textOf(secret, 'name') === '' ? [`${path}[${index}].name: invalid empty name ""`] : [],
  )
}

function ofAmounts(resources: Part, path: string): string[] {
  return ['memory', 'ephemeral-storage'].flatMap((resource) =>
    ['limits', 'requests'].flatMap((list) => ofBytes(partOf(resources, list), `${path}.${list}`, [resource])),
  )
}

/** There are no parts of bytes. */
function ofBytes(amounts: Part, path: string, resources: readonly string[] = ['memory', 'ephemeral-storage']): string[] {
  return resources.flatMap((resource) => {
    const text = textOf(amounts, resource)
    const quantity = parseQuantity(text)
    if (quantity === undefined || isWholeQuantity(quantity)) return []
    return [`${path}[${resource}]: fractional byte value ${JSON.stringify(text)} is invalid, must be an integer`]
  })
}

/** An annotation says what a field now says, and the field is not there. */
function ofSeccomp(holder: Part, { annotations, path, key }: { annotations: Part; path: string; key: string }): string[] {
  if (!isGiven(annotations, key) || isGiven(partOf(holder, 'securityContext'), 'seccompProfile')) return []
  return [`${path}[${key}]: deprecated since v1.19, non-functional in a future release; use the "seccompProfile" field instead`]
}

function seccompKey(names: Names, container: Part): string {
  return `container.${seccompDomain(names)}/${textOf(container, 'name')}`
}

function seccompDomain(names: Names): string {
  return `seccomp.security.alpha.${names.labelDomain}`
}
