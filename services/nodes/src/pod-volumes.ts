import { getOrMake } from '@orch/core/memo'
import {
  containersOf,
  fieldValue,
  mounted,
  type ProjectedSource,
  projections,
  resourceValue,
  type SourceRef,
  subPathOf,
} from '@orch/core/pod-life'
import type { Pod } from '@orch/core/workloads'
import type { Clock, Log } from '@orch/platform'
import type { SourceReader } from './pod-sources.ts'
import { FileTree, type Mount, resolvePath } from './programs/container-files.ts'
import type { RunningContainer } from './programs/program.ts'

export type TokenSource = NonNullable<ProjectedSource['serviceAccountToken']>
type PodVolume = NonNullable<Pod['spec']['volumes']>[number]

export interface PodVolumesOptions {
  readonly clock: Pick<Clock, 'now'>
  currentPod(pod: Pod): Pod
  readonly sources: Pick<SourceReader, 'read' | 'allocatableOf'>
  requestToken(pod: Pod, source: TokenSource): Promise<string>
  readonly log: Pick<Log, 'debug'>
}

type ReadBytes = (source: SourceRef) => Promise<ReadonlyMap<string, Uint8Array> | undefined>

/** The files of the volumes of Pods. The containers of a Pod share them, and they stay until the Pod ends. */
export class PodVolumes {
  readonly #options: PodVolumesOptions
  /** By the uid of the Pod, and the name of the volume. */
  readonly #volumes = new Map<string, Map<string, FileTree>>()

  constructor(options: PodVolumesOptions) {
    this.#options = options
  }

  /** Mounts the volumes of a container with their current files. A volume stays while its objects are gone or refused. */
  async mount({ pod, name: container, files, env }: Pick<RunningContainer, 'pod' | 'name' | 'files' | 'env'>): Promise<void> {
    const nowMs = this.#options.clock.now()
    const volumes = getOrMake(this.#volumes, pod.metadata.uid ?? '', () => new Map<string, FileTree>())
    const volumeMounts = containersOf(pod).find(({ name }) => name === container)?.volumeMounts ?? []
    const read = this.#reader(pod)
    for (const name of new Set(volumeMounts.map((one) => one.name))) {
      const volume = pod.spec.volumes?.find((one) => one.name === name)
      const projected =
        volume &&
        (await this.#projectedFiles(volume, { pod, nowMs, read }).catch((error: unknown) => {
          this.#options.log.debug({ err: error, pod: pod.metadata.name, volume: name }, 'the files of a volume could not be read')
          return undefined
        }))
      if (projected !== undefined) volumes.set(name, projected)
    }
    const mounts = volumeMounts.map((volumeMount): Mount => {
      const tree = getOrMake(volumes, volumeMount.name, () => new FileTree(nowMs, { mode: 0o777 }))
      const from = resolvePath('/', subPathOf(volumeMount, env))
      return { path: resolvePath('/', volumeMount.mountPath), tree, from, isReadOnly: tree.isReadOnly || volumeMount.readOnly === true }
    })
    files.mount(mounts, nowMs)
  }

  forget(uid: string): void {
    this.#volumes.delete(uid)
  }

  /** Reads each object once: a Pod may have thousands of volumes of one object, which share its bytes. */
  #reader({ metadata: { namespace = '' } }: Pod): ReadBytes {
    const known = new Map<string, ReturnType<ReadBytes>>()
    const read: ReadBytes = async (source) => {
      const values = await this.#options.sources.read(namespace, source)
      return values && new Map([...values].map(([key, value]) => [key, typeof value === 'string' ? Buffer.from(value) : value]))
    }
    return (source) => getOrMake(known, `${source.kind}/${source.name}`, () => read(source))
  }

  /** The files of a volume, as the kubelet projects them. Undefined for other kinds of volumes, and while an object or key is missing. */
  async #projectedFiles(
    volume: PodVolume,
    { pod, nowMs, read }: { readonly pod: Pod; readonly nowMs: number; readonly read: ReadBytes },
  ): Promise<FileTree | undefined> {
    const { sources, requestToken, currentPod } = this.#options
    const { configMap, secret, downwardAPI, projected } = volume
    const kind = projected ?? configMap ?? secret ?? downwardAPI
    if (kind == null) return undefined
    const files = new FileTree(nowMs, { mode: 0o777, isReadOnly: true })
    const add = (path: string, content: string | Uint8Array, mode?: number | null) => {
      const bytes = typeof content === 'string' ? Buffer.from(content) : content
      files.write(resolvePath('/', path), bytes, nowMs, mode ?? kind.defaultMode ?? undefined)
    }
    for (const source of projections(volume)) {
      for (const { items, isOptional, ...ref } of mounted(source)) {
        const values = await read(ref)
        if (values === undefined && !isOptional) return undefined
        const all = [...(values?.keys() ?? [])].map((key) => ({ key, path: key, mode: undefined }))
        for (const { key, path, mode } of items.length > 0 ? items : all) {
          const content = values?.get(key)
          if (content !== undefined || ref.kind === 'ClusterTrustBundle') add(path, content ?? '', mode)
          else if (!isOptional) return undefined
        }
      }
      for (const { path, fieldRef, resourceFieldRef: ref, mode } of source.downwardAPI?.items ?? []) {
        const container = containersOf(pod).find(({ name }) => name === ref?.containerName)
        if (fieldRef != null) add(path, fieldValue(currentPod(pod), fieldRef.fieldPath), mode)
        else if (ref != null) add(path, resourceValue(ref, container, { allocatable: sources.allocatableOf(pod) }), mode)
      }
      const { serviceAccountToken: token } = source
      if (token != null) add(token.path, await requestToken(pod, token))
    }
    return files
  }
}
