import { readdirSync, readFileSync, statSync } from 'node:fs'
import { extname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type ManifestFile, type ManifestPlugin, Manifests, manifestsFolderKey, readManifests } from '@orch/admission'
import { counter, declareMetrics, gauge, type Metrics, SettingsError, systemCodeOf } from '@orch/platform'
import { ReloadedFile } from '../configuration/reloaded-file.ts'
import type { Surroundings } from '../surroundings.ts'

const what = 'admission manifest'
const extensions: readonly string[] = ['.yaml', '.yml', '.json']

/** The folder with the manifests of a plugin. */
export interface ManifestFolder {
  readonly plugin: ManifestPlugin
  readonly folder: string
}

/** The objects in the folders of manifests, by plugin. A change of the files replaces them. Rejects for an invalid file. */
export async function openManifests(
  folders: readonly ManifestFolder[],
  { metrics, catalogue, clock, lifecycle, log }: Surroundings & { readonly metrics: Metrics },
): Promise<ReadonlyMap<string, Manifests>> {
  const opened = new Map<string, Manifests>()
  if (folders.length === 0) return opened
  const count = countReloads(metrics)
  for (const { plugin, folder } of folders) {
    const flag = `${plugin}: ${manifestsFolderKey}`
    let files: readonly ManifestFile[] = []
    let parsed: ReturnType<typeof readManifests> | undefined
    const read = () => {
      const present = filesOf(flag, folder)
      if (!isDeepStrictEqual(present, files)) parsed = undefined
      files = present
      return files
    }
    // Files that are refused are parsed once.
    const parse = () => {
      parsed ??= readManifests(files, plugin, catalogue)
      return parsed
    }
    const file = new ReloadedFile({ flag, file: folder, what, read, parse, log })
    const manifests = new Manifests(await file.read())
    count(plugin, 'success', clock.now())
    file.onEnd((status) => count(plugin, status, clock.now()))
    const following = file.follow(clock, (objects) => manifests.replace(objects))
    lifecycle.onStop(`reload of the manifests of ${plugin}`, () => following.stop())
    opened.set(plugin, manifests)
  }
  return opened
}

/** The files of a folder, by name. Folders, pipes and devices, and links to them, are passed over. */
function filesOf(flag: string, folder: string): readonly ManifestFile[] {
  let path = folder
  try {
    return readdirSync(folder)
      .filter((name) => extensions.includes(extname(name).toLowerCase()))
      .toSorted()
      .flatMap((name) => {
        path = join(folder, name)
        return statSync(path).isFile() ? [{ path, text: readFileSync(path, 'utf8') }] : []
      })
  } catch (error) {
    throw new SettingsError(`${flag}=${folder}: ${path} cannot be read (${systemCodeOf(error)})`)
  }
}

/** kube-apiserver's metrics of the reloads of manifests. */
function countReloads(metrics: Metrics) {
  const labels = ['status', 'plugin'] as const
  const prefix = 'apiserver_manifest_admission_config_controller_automatic_reload'
  const { [`${prefix}s_total`]: total, [`${prefix}_last_timestamp_seconds`]: time } = declareMetrics(metrics, {
    [`${prefix}s_total`]: counter('[ALPHA] Total number of automatic reloads of admission manifests by status and plugin.', labels),
    [`${prefix}_last_timestamp_seconds`]: gauge('[ALPHA] Timestamp of the last automatic reload of admission manifests.', labels),
  })
  return (plugin: string, status: 'success' | 'failure', nowMs: number) => {
    total?.inc({ status, plugin })
    time?.set({ status, plugin }, nowMs / 1_000)
  }
}
