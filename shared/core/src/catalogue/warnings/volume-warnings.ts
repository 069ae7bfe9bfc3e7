import { shown } from '../../json/go-quote.ts'
import { itemsOf, optionalPart, type Part, partOf, textOf } from '../../validation/part.ts'
import { isGiven } from '../validation/checks.ts'
import { warningsOfClaimSpec } from './claim-warnings.ts'

/** A deprecated kind of volume, at the levels from `since` to `until`. */
interface FormerVolume {
  readonly field: string
  /** The name in the path. Default: the field's name. */
  readonly shown?: string
  readonly since?: number
  readonly until?: number
  readonly message: string
}

const planned = { until: 26, message: 'deprecated in v1.22, support removal is planned in v1.26' }
const gone = { since: 27, message: 'deprecated in v1.22, non-functional in v1.25+' }
const going = { since: 28, message: 'deprecated in v1.28, non-functional in v1.31+' }

const formerVolumes: readonly FormerVolume[] = [
  { field: 'photonPersistentDisk', message: 'deprecated in v1.11, non-functional in v1.16+' },
  { field: 'gitRepo', until: 32, message: 'deprecated in v1.11' },
  { field: 'gitRepo', since: 33, message: 'deprecated in v1.11, and disabled by default in v1.33+' },
  { field: 'scaleIO', message: 'deprecated in v1.16, non-functional in v1.22+' },
  { field: 'flocker', ...planned },
  { field: 'flocker', ...gone },
  { field: 'storageos', shown: 'storageOS', ...planned },
  { field: 'storageos', shown: 'storageOS', ...gone },
  { field: 'quobyte', ...planned },
  { field: 'quobyte', ...gone },
  { field: 'glusterfs', until: 26, message: 'deprecated in v1.25, this feature will be removed soon after in a subsequent release' },
  { field: 'glusterfs', since: 27, message: 'deprecated in v1.25, non-functional in v1.26+' },
  { field: 'cephfs', ...going },
  { field: 'rbd', ...going },
]

/** The warnings about the volumes of a Pod. */
export function warningsOfVolumes(spec: Part, path: string, level: number): string[] {
  const said: string[] = []
  const volumes = itemsOf(spec, 'volumes')
  for (const [index, volume] of volumes.entries()) {
    for (const { field, shown = field, since = 0, until = Infinity, message } of formerVolumes) {
      if (level >= since && level <= until && isGiven(volume, field)) said.push(`${path}[${index}].${shown}: ${message}`)
    }
    const template = optionalPart(optionalPart(volume, 'ephemeral'), 'volumeClaimTemplate')
    if (template === undefined) continue
    said.push(...warningsOfClaimSpec(partOf(template, 'spec'), `${path}[${index}].ephemeral.volumeClaimTemplate.spec`, level))
  }
  if (level >= overlapsSince) for (const volume of volumes) said.push(...ofOverlaps(volume, level))
  return said
}

/** The first level that warns about files with the same path, or with a path below another file's. */
const overlapsSince = 30

/** The path of a file in a volume, and the object that contains it; empty for the volume's own object. */
interface VirtualFile {
  readonly path: string
  readonly source: string
}

/** The first level that warns about projected sources of no kind. */
const emptySourcesSince = 32

function ofOverlaps(volume: Part, level: number): string[] {
  const name = JSON.stringify(textOf(volume, 'name'))
  const said: string[] = []
  const say = (kind: string, files: readonly VirtualFile[]): void => {
    for (const overlap of overlapsOf(files)) said.push(`volume ${name} (${kind}): overlapping paths: ${overlap}`)
  }
  const [map, secret, downward] = ['configMap', 'secret', 'downwardAPI'].map((source) => optionalPart(volume, source))
  if (map !== undefined) say(`ConfigMap ${JSON.stringify(textOf(map, 'name'))}`, filesOf(map, ''))
  if (secret !== undefined) say(`Secret ${JSON.stringify(textOf(secret, 'secretName'))}`, filesOf(secret, ''))
  if (downward !== undefined) say('DownwardAPI', filesOf(downward, ''))
  const sources = itemsOf(optionalPart(volume, 'projected'), 'sources')
  for (const source of sources) {
    if (level >= emptySourcesSince && Object.keys(source).length === 0) said.push(`volume ${name} (Projected) has no sources provided`)
  }
  say('Projected', sources.flatMap(projectedFiles))
  return said
}

function filesOf(source: Part, shown: string): VirtualFile[] {
  return itemsOf(source, 'items').map((item) => ({ path: textOf(item, 'path'), source: shown }))
}

const certificateFiles = [
  ['certificateChainPath', 'PodCertificate chain'],
  ['keyPath', 'PodCertificate key'],
  ['credentialBundlePath', 'PodCertificate credential bundle'],
] as const

function projectedFiles(source: Part): VirtualFile[] {
  const given = (name: string): Part | undefined => optionalPart(source, name)
  const [map, secret, downward] = ['configMap', 'secret', 'downwardAPI'].map(given)
  const named = (kind: string, name: string): string => `${kind} ${JSON.stringify(name)}`
  if (map !== undefined) return filesOf(map, named('ConfigMap', textOf(map, 'name')))
  if (secret !== undefined) return filesOf(secret, named('Secret', textOf(secret, 'name')))
  if (downward !== undefined) return filesOf(downward, 'DownwardAPI')
  const [token, bundle] = ['serviceAccountToken', 'clusterTrustBundle'].map(given)
  if (token !== undefined) return [{ path: textOf(token, 'path'), source: 'ServiceAccountToken' }]
  if (bundle !== undefined) {
    const name = textOf(bundle, isGiven(bundle, 'name') ? 'name' : 'signerName')
    return [{ path: textOf(bundle, 'path'), source: named('ClusterTrustBundle', name) }]
  }
  return certificateFiles.map(([field, shown]) => ({ path: textOf(partOf(source, 'podCertificate'), field), source: shown }))
}

/** Maximum files of one volume whose paths are compared in pairs, and maximum pairs in its warnings. */
const comparedMax = 200

/** The pairs of a file and an earlier file with conflicting paths: the paths are equal, or one path is a folder of the other. */
function overlapsOf(files: readonly VirtualFile[]): string[] {
  const said: string[] = []
  const before: VirtualFile[] = []
  for (const { path, source } of files.slice(0, comparedMax)) {
    const file = { path: path.replace(/(?<!\/)\/*$/, '/'), source }
    if (file.path === '/') continue
    for (const other of before) {
      const isOverlap = other.path.startsWith(file.path) || file.path.startsWith(other.path)
      if (isOverlap && said.length < comparedMax) said.push(`${shownFile(file)} with ${shownFile(other)}`)
    }
    before.push(file)
  }
  return said
}

function shownFile({ path, source }: VirtualFile): string {
  const text = JSON.stringify(shown(path.slice(0, -1)))
  return source === '' ? text : `${text} (${source})`
}
