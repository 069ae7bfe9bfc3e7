import { type Informer, type ResourceAddress, unlessGone } from '@orch/client'
import { getOrMake } from '@orch/core/memo'
import type { ApiObject } from '@orch/core/meta'
import { domainGroup, domainLabel } from '@orch/core/names'
import {
  containersOf,
  type Environment,
  environmentOf,
  type FindSource,
  hostOf,
  type MountProblem,
  mountProblems,
  type PodSources,
  type SourceRef,
  type SourceValues,
  serviceVariables,
  sourcesOf,
  trustKey,
} from '@orch/core/pod-life'
import type { BuiltIn } from '@orch/core/schema'
import { type LabelSelector, matchesLabels, toLabelRequirements } from '@orch/core/selectors'
import { type Node, type Pod, volumeNameOnNodes } from '@orch/core/workloads'
import { type Following, follow } from './following.ts'

export interface SourceReaderOptions extends Following {
  /** The current Node in the API. Undefined if absent. */
  nodeNamed(name: string): Node | undefined
  wake(pod: Pod): void
}

interface Data extends ApiObject {
  readonly data?: Readonly<Record<string, string>>
  readonly binaryData?: Readonly<Record<string, string>>
}

type Service = BuiltIn<'core/v1.Service'>

interface Started {
  readonly startedMs?: number | undefined
  readonly find?: FindSource | undefined
}

/** Pods that wait for an object, and the close function of its watch. */
interface Waited {
  readonly pods: Map<string, Pod>
  readonly ending: AbortController
}

const core = (plural: string, namespaced = true): ResourceAddress => ({ group: '', version: 'v1', plural, namespaced })
const plurals = { ConfigMap: 'configmaps', Secret: 'secrets' } as const
const certificate = /-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs

/** Reads the objects that Pods need before their containers start. An object is watched while a Pod waits for it. */
export class SourceReader {
  readonly #options: SourceReaderOptions
  /** Open reads, so that Pods that start together share one. */
  readonly #reads = new Map<string, Promise<SourceValues | undefined>>()
  readonly #waited = new Map<string, Waited>()
  readonly #services: Informer<Service>

  constructor(options: SourceReaderOptions) {
    this.#options = options
    this.#services = follow<Service>(options, {
      resource: options.client.resource(core('services')),
      onEvent() {},
      onError: (err) => options.log.debug({ err }, 'the Services are listed or watched again'),
    })
  }

  /** Resolves when the Services are read, and at the end. */
  get ready(): Promise<void> {
    return Promise.race([this.#services.synced, this.#services.done])
  }

  /** Resolves after the signal has ended its watches. */
  get done(): Promise<void> {
    return this.#services.done
  }

  /** Undefined if the Pod needs no objects. */
  open(pod: Pod): SourcesOfPod | undefined {
    const refs = sourcesOf(pod)
    const claims = claimsOf(pod)
    const hasPaths = containersOf(pod).some(({ volumeMounts }) => volumeMounts?.some(({ subPathExpr }) => subPathExpr) === true)
    return refs.length === 0 && claims.length === 0 && !hasPaths ? undefined : new SourcesOfPod(pod, { refs, claims }, this)
  }

  nodeNamed(name: string): Node | undefined {
    return this.#options.nodeNamed(name)
  }

  /** The environment of a container that started at this time, from the objects that its Pod has read. */
  environmentOf(pod: Pod, container: string, { startedMs = this.#options.clock.now(), find = () => undefined }: Started = {}): Environment {
    const { hostname } = hostOf(pod, this.#options.names.clusterDomain)
    const links = serviceVariables(pod, this.#services.values(), startedMs)
    return environmentOf({ pod, container, hostname, links, find, allocatable: this.allocatableOf(pod) })
  }

  /** The resources that the node of a Pod has for Pods. */
  allocatableOf({ spec }: Pod): Readonly<Record<string, string>> {
    return this.nodeNamed(spec.nodeName ?? '')?.status.allocatable ?? {}
  }

  read(namespace: string, ref: SourceRef): Promise<SourceValues | undefined> {
    const key = keyOf(namespace, ref)
    return getOrMake(this.#reads, key, () => this.#get(namespace, ref).finally(() => this.#reads.delete(key)))
  }

  get #bundles(): ResourceAddress {
    return { group: domainGroup(this.#options.names, 'certificates'), version: 'v1', plural: 'clustertrustbundles', namespaced: false }
  }

  /** The certificates of trust bundles, each once. */
  async #getTrust(name: string): Promise<SourceValues | undefined> {
    const { client, signal } = this.#options
    const [signer, selector]: [string?, LabelSelector?] = name.startsWith('[') ? JSON.parse(name) : []
    const reading = toLabelRequirements(selector ?? {})
    const all = await client.resource<BuiltIn<'certificates/v1.ClusterTrustBundle'>>(this.#bundles).listAll({ signal })
    const found = all.items.filter(({ metadata, spec }) => {
      if (signer === undefined) return metadata.name === name
      return spec.signerName === signer && selector && reading.kind === 'selector' && matchesLabels(reading.requirements, metadata.labels)
    })
    const certificates = new Set(found.flatMap(({ spec }) => spec.trustBundle.match(certificate) ?? []))
    return found.length === 0 ? undefined : new Map([[trustKey, [...certificates].map((one) => `${one}\n`).join('')]])
  }

  async #get(namespace: string, { kind, name }: SourceRef): Promise<SourceValues | undefined> {
    if (kind === 'ClusterTrustBundle') return this.#getTrust(name)
    const object = await this.#find<Data>(core(plurals[kind]), name, namespace)
    if (object === undefined) return undefined
    const { data = {}, binaryData = {} } = object
    const toEntry = ([key, value]: [string, string]) => [key, kind === 'Secret' ? Buffer.from(value, 'base64') : value] as const
    return new Map([
      ...Object.entries(data).map(toEntry),
      ...Object.entries(binaryData).map(([key, value]) => [key, Buffer.from(value, 'base64')] as const),
    ])
  }

  /** The attachable name of a claim's volume. Undefined if it is not attachable; null if the claim is unbound. */
  async volumeOf(namespace: string, claim: string): Promise<string | undefined | null> {
    const { names } = this.#options
    const found = await this.#find<BuiltIn<'core/v1.PersistentVolumeClaim'>>(core('persistentvolumeclaims'), claim, namespace)
    if (found?.spec.volumeName == null || found.spec.volumeName === '') return null
    const volume = await this.#find<BuiltIn<'core/v1.PersistentVolume'>>(core('persistentvolumes', false), found.spec.volumeName)
    if (volume === undefined) return null
    const { csi } = volume.spec
    if (csi == null) return undefined
    const drivers = { group: domainGroup(names, 'storage'), version: 'v1', plural: 'csidrivers', namespaced: false }
    const driver = await this.#find<BuiltIn<'storage/v1.CSIDriver'>>(drivers, csi.driver)
    return driver?.spec.attachRequired === false ? undefined : volumeNameOnNodes(volume, domainLabel(names, ''))
  }

  async #find<T extends ApiObject>(resource: ResourceAddress, name: string, namespace?: string): Promise<T | undefined> {
    const { client, signal } = this.#options
    return unlessGone(() => client.resource<T>(resource).get(name, { signal, ...(namespace !== undefined && { namespace }) }))
  }

  /** Enqueues a Pod when one of these objects changes, instead of earlier ones. */
  follow(pod: Pod, refs: readonly SourceRef[]): void {
    const { uid = '', namespace = '' } = pod.metadata
    const wanted = new Map(refs.map((ref) => [keyOf(namespace, ref), ref]))
    for (const [key, { pods, ending }] of this.#waited) {
      if (wanted.has(key) || !pods.delete(uid) || pods.size > 0) continue
      ending.abort()
      this.#waited.delete(key)
    }
    for (const [key, ref] of wanted) {
      const waited = this.#waited.get(key) ?? this.#watch(key, namespace, ref)
      waited.pods.set(uid, pod)
    }
  }

  #watch(key: string, namespace: string, { kind, name }: SourceRef): Waited {
    const { client, log, signal, wake } = this.#options
    const waited: Waited = { pods: new Map(), ending: new AbortController() }
    this.#waited.set(key, waited)
    const following = { ...this.#options, signal: AbortSignal.any([signal, waited.ending.signal]) }
    follow<ApiObject>(following, {
      resource: client.resource(kind === 'ClusterTrustBundle' ? this.#bundles : core(plurals[kind])),
      ...(kind !== 'ClusterTrustBundle' && { select: { namespace, fieldSelector: `metadata.name=${name}` } }),
      onEvent: ({ kind: change }) => {
        // An open read may have begun before the change.
        this.#reads.delete(key)
        if (change !== 'deleted') for (const pod of [...waited.pods.values()]) wake(pod)
      },
      onError: (err) => log.debug({ err }, 'an object that a Pod waits for is watched again'),
    })
    return waited
  }
}

/** The last read objects of one Pod. */
export class SourcesOfPod implements PodSources {
  readonly #pod: Pod
  readonly #refs: readonly SourceRef[]
  readonly #claims: readonly string[]
  readonly #reader: SourceReader
  readonly #values = new Map<string, SourceValues | undefined>()
  /** Attachable names by claim; null if the claim is unbound. */
  readonly #volumes = new Map<string, string | undefined | null>()
  #isRead = false

  constructor(pod: Pod, needs: { readonly refs: readonly SourceRef[]; readonly claims: readonly string[] }, reader: SourceReader) {
    this.#pod = pod
    this.#refs = needs.refs
    this.#claims = needs.claims
    this.#reader = reader
  }

  /** Reads the objects, unless no container starts: then the last read ones are used. */
  async refresh(isStarting: boolean): Promise<void> {
    if (this.#isRead && !isStarting) return
    const { namespace = '' } = this.#pod.metadata
    const reads = this.#refs.map(async (ref) => this.#values.set(keyOf(namespace, ref), await this.#reader.read(namespace, ref)))
    const claims = this.#claims.map(async (claim) => {
      if (this.#volumes.get(claim) == null) this.#volumes.set(claim, await this.#reader.volumeOf(namespace, claim))
    })
    await Promise.all([...reads, ...claims])
    this.#isRead = true
    const isMissing = this.mountProblems().length > 0 || this.#names().some((name) => this.configProblem(name) !== undefined)
    this.#reader.follow(this.#pod, isMissing ? this.#refs : [])
  }

  close(): void {
    this.#reader.follow(this.#pod, [])
  }

  #names(): string[] {
    const { initContainers, containers } = this.#pod.spec
    return [...(initContainers ?? []), ...(containers ?? [])].map(({ name }) => name)
  }

  readonly find = (ref: SourceRef): SourceValues | undefined => this.#values.get(keyOf(this.#pod.metadata.namespace ?? '', ref))

  configProblem(container: string, pod = this.#pod): string | undefined {
    const made = this.#reader.environmentOf(pod, container, this)
    return made.kind === 'problem' ? made.message : undefined
  }

  mountProblems(): readonly MountProblem[] {
    return mountProblems(this.#pod, this.find)
  }

  isAttaching(): boolean {
    const attached = this.#reader.nodeNamed(this.#pod.spec.nodeName ?? '')?.status.volumesAttached ?? []
    return [...this.#volumes.values()].some((name) => name === null || (name !== undefined && !attached.some((one) => one.name === name)))
  }

  /** True if a claim is unbound, for which no event arrives. */
  get hasUnboundClaims(): boolean {
    return [...this.#volumes.values()].includes(null)
  }
}

/** Claims of a Pod; those of ephemeral volumes have the names of the Pod and the volume. */
function claimsOf({ metadata, spec }: Pod): string[] {
  return (spec.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim?.claimName) return [persistentVolumeClaim.claimName]
    return ephemeral == null ? [] : [`${metadata.name}-${name}`]
  })
}

function keyOf(namespace: string, { kind, name }: SourceRef): string {
  return `${kind}/${namespace}/${name}`
}
