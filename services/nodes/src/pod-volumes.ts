import { getOrMake } from '@orch/core/memo'
import { containersOf, fieldValue, mounted, type ProjectedSource, projections, resourceValue, subPathOf } from '@orch/core/pod-life'
import type { Pod } from '@orch/core/workloads'
import type { Clock } from '@orch/platform'
import type { SourceReader } from './pod-sources.ts'
import { ContainerFiles, type Directory, entryAt, newDirectory, resolvePath } from './programs/container-files.ts'
import type { RunningContainer } from './programs/program.ts'

export type TokenSource = NonNullable<ProjectedSource['serviceAccountToken']>
type PodVolume = NonNullable<Pod['spec']['volumes']>[number]

export interface PodVolumesOptions {
  readonly clock: Pick<Clock, 'now'>
  /** The present state of a Pod, with its addresses. */
  currentPod(pod: Pod): Pod
  readonly sources: Pick<SourceReader, 'read' | 'allocatableOf'>
  requestToken(pod: Pod, source: TokenSource): Promise<string>
}

/** The files of the volumes of Pods. The containers of a Pod share them, and they stay until the Pod ends. */
export class PodVolumes {
  readonly #options: PodVolumesOptions
  /** By the uid of the Pod, and the name of the volume. */
  readonly #volumes = new Map<string, Map<string, Directory>>()

  constructor(options: PodVolumesOptions) {
    this.#options = options
  }

  /** Mounts the volumes of a container with their current files. A volume stays when its objects are gone. */
  async mount({ pod, name: container, files, env }: Pick<RunningContainer, 'pod' | 'name' | 'files' | 'env'>): Promise<void> {
    const nowMs = this.#options.clock.now()
    const volumes = getOrMake(this.#volumes, pod.metadata.uid ?? '', () => new Map<string, Directory>())
    const mounts = containersOf(pod).find(({ name }) => name === container)?.volumeMounts ?? []
    for (const volumeMount of mounts) {
      const { name, mountPath } = volumeMount
      const volume = pod.spec.volumes?.find((one) => one.name === name)
      const projected = volume && (await this.#projectedFiles(volume, pod, nowMs))
      if (projected !== undefined) volumes.set(name, projected)
      const root = getOrMake(volumes, name, () => newDirectory(nowMs, 0o777))
      const from = resolvePath('/', subPathOf(volumeMount, env))
      files.put(resolvePath('/', mountPath), entryAt(root, from) ?? new ContainerFiles(root).makeDirectory(from, nowMs), nowMs)
    }
  }

  /** Forgets the files of a Pod. */
  forget(uid: string): void {
    this.#volumes.delete(uid)
  }

  /** The files of a volume, as the kubelet projects them. Undefined for other kinds of volumes, and while an object or key is missing. */
  async #projectedFiles(volume: PodVolume, pod: Pod, nowMs: number): Promise<Directory | undefined> {
    const { sources, requestToken, currentPod } = this.#options
    const { configMap, secret, downwardAPI, projected } = volume
    const kind = projected ?? configMap ?? secret ?? downwardAPI
    if (kind == null) return undefined
    const root = newDirectory(nowMs, 0o777)
    const files = new ContainerFiles(root)
    const add = (path: string, content: string | Uint8Array, mode?: number | null) =>
      files.write(resolvePath('/', path), Buffer.from(content), nowMs, mode ?? kind.defaultMode ?? undefined)
    for (const source of projections(volume)) {
      for (const { items, isOptional, ...ref } of mounted(source)) {
        const values = await sources.read(pod.metadata.namespace ?? '', ref)
        if (values === undefined && !isOptional) return undefined
        const all = [...(values?.keys() ?? [])].map((key) => ({ key, path: key, mode: undefined }))
        for (const { key, path, mode } of items.length > 0 ? items : all) {
          const content = values?.get(key)
          if (content !== undefined) add(path, content, mode)
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
    return { ...root, isReadOnly: true }
  }
}
