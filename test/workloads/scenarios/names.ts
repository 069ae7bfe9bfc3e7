import type { ApiObject } from '@orch/core/meta'

const uids = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
const times = /\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.\d]*( ?[+-]\d{4} \S+|Z)?( m=\S+)?/g
const generatedPods = /(pods "|Pod |pod |pod: )([a-z][a-z0-9-]*?)-[bcdfghjklmnpqrstvwxz2456789]{5}(?![a-z0-9-])/g
/** A message about a name conflict lists two random names. */
const examples = /\(e\.g\. \[(\S+) (\S+)\]\)/g

interface Spec {
  readonly affinity?: {
    readonly nodeAffinity?: {
      readonly requiredDuringSchedulingIgnoredDuringExecution?: {
        readonly nodeSelectorTerms?: readonly { readonly matchFields?: readonly { readonly values?: readonly string[] }[] }[]
      }
    }
  }
}

/** The node for which the DaemonSet made the Pod. */
export function nodeOfAffinity(object: ApiObject): string | undefined {
  const { affinity } = (object['spec'] ?? {}) as Spec
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms
  return terms?.[0]?.matchFields?.[0]?.values?.[0]
}

/** Names in normal form: generated names are numbered in creation order; words replace the namespace, times and uids. */
export class Names {
  readonly #namespace: string
  readonly #isOfDaemonSets: boolean
  /** Normal names by `KIND/NAME`. */
  readonly #normal = new Map<string, string>()
  readonly #counts = new Map<string, number>()
  /** `KIND/NAME` by uid. */
  readonly #byUid = new Map<string, string>()
  /** Hashes of DaemonSet revisions, whose templates contain the namespace. */
  readonly #hashes: string[] = []

  constructor(namespace: string, group: string) {
    this.#namespace = namespace
    this.#isOfDaemonSets = group === 'WL-DS'
  }

  /** Gives a created object its number. */
  learn(object: ApiObject): void {
    const { kind = '', metadata } = object
    const { name = '', generateName = '', uid = '', labels, ownerReferences } = metadata
    const key = `${kind}/${name}`
    this.#byUid.set(uid, key)
    if (this.#normal.has(key)) return
    const hash = labels?.['controller-revision-hash']
    if (kind === 'ControllerRevision' && this.#isOfDaemonSets && hash !== undefined && !this.#hashes.includes(hash)) this.#hashes.push(hash)
    if (ownerReferences?.some((reference) => reference.controller === true && reference.kind === 'StatefulSet')) return
    if (generateName !== '' && name.startsWith(generateName)) this.#normal.set(key, this.#generatedName(object, generateName))
    else if (kind === 'Job' && ownerReferences !== undefined && /-\d{8}$/.test(name))
      this.#normal.set(key, name.replace(/-\d{8}$/, `-MINUTE${this.#count('minute')}`))
  }

  #generatedName(object: ApiObject, prefix: string): string {
    const { kind = '' } = object
    const count = this.#count(kind + prefix)
    const node = kind === 'Pod' ? nodeOfAffinity(object) : undefined
    if (node === undefined) return `${this.text(prefix)}#${count}`
    const onNode = this.#count(`${prefix}@${node}`)
    return `${this.text(prefix)}@${this.text(node)}${onNode > 1 ? `#${onNode}` : ''}`
  }

  #count(what: string): number {
    const count = (this.#counts.get(what) ?? 0) + 1
    this.#counts.set(what, count)
    return count
  }

  of(kind: string, name: string): string {
    return this.#normal.get(`${kind}/${name}`) ?? this.text(name)
  }

  /** The server's name for a name in normal form. */
  original(kind: string, normal: string): string {
    for (const [key, value] of this.#normal) if (value === normal && key.startsWith(`${kind}/`)) return key.slice(kind.length + 1)
    return normal.replaceAll('NS', this.#namespace)
  }

  text(text: string): string {
    if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text)) return 'T'
    let normal = text
    for (const [index, hash] of this.#hashes.entries()) normal = normal.replaceAll(hash, `HASH${index + 1}`)
    for (const [key, value] of [...this.#normal].sort(([left], [right]) => right.length - left.length))
      normal = normal.replaceAll(key.slice(key.indexOf('/') + 1), value)
    return normal
      .replaceAll(this.#namespace, 'NS')
      .replace(uids, (uid) => this.#ofUid(uid))
      .replace(examples, (_, left: string, right: string) => `(e.g. [${[left, right].sort().join(' ')}])`)
      .replace(generatedPods, '$1$2-*')
      .replace(times, 'T')
  }

  #ofUid(uid: string): string {
    const [kind = '', name = ''] = this.#byUid.get(uid)?.split('/') ?? []
    return kind === '' ? 'UID' : `uid(${this.of(kind, name)})`
  }

  /** A part of an object in normal form, without values that differ between runs. */
  value(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.value(item))
    if (typeof value === 'string') return this.text(value)
    if (typeof value !== 'object' || value === null) return value
    const { kind, name } = value as { readonly kind?: unknown; readonly name?: unknown }
    const entries = Object.entries(value).filter(([member]) => !hidden.has(member))
    return Object.fromEntries(
      entries.map(([member, item]) =>
        member === 'name' && typeof kind === 'string' && typeof name === 'string'
          ? [member, this.of(kind, name)]
          : [this.text(member), this.value(item)],
      ),
    )
  }
}

const hidden: ReadonlySet<string> = new Set(['uid', 'resourceVersion', 'creationTimestamp', 'managedFields', 'selfLink'])
