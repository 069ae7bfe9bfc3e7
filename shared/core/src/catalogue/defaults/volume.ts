import { child, children, type Draft, fill, fillEmpty } from '../../kind/draft.ts'

const readableByAll = 0o644

/** Fills a Pod's volume; a volume without a source is an empty directory. */
export function fillVolume(volume: Draft): void {
  if (Object.keys(volume).every((name) => name === 'name')) volume['emptyDir'] = {}
  for (const source of ['secret', 'configMap', 'downwardAPI', 'projected']) fill(child(volume, source), { defaultMode: readableByAll })
  fillDownwardItems(child(volume, 'downwardAPI'))
  for (const source of children(child(volume, 'projected'), 'sources')) fillProjection(source)
  fill(child(child(child(volume, 'ephemeral'), 'volumeClaimTemplate'), 'spec'), { volumeMode: 'Filesystem' })
  const image = child(volume, 'image')
  if (image !== undefined) fill(image, { pullPolicy: pullPolicyOf(image['reference']) })
  fillVolumeSource(volume)
}

const imagePart = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*'
const imageHost = '(?:(?=[^/]*[.:A-Z]|localhost/)[a-zA-Z0-9.-]+(?::[0-9]+)?/)?'
const imagePattern = new RegExp(
  `^(${imageHost}${imagePart}(?:/${imagePart})*)(?::([A-Za-z0-9_][A-Za-z0-9_.-]{0,127}))?(@[A-Za-z][A-Za-z0-9+._-]*:[0-9a-fA-F]{32,})?$`,
)
const imageNameLengthMax = 255

/**
 * An image without a tag, or with the tag `latest`, may change, so it is always pulled. A digest never changes, and an invalid
 * image name has no tag.
 */
export function pullPolicyOf(image: unknown): 'Always' | 'IfNotPresent' {
  const text = typeof image === 'string' && image.length < 1024 ? image : ''
  const [, name = '', tag, digest] = imagePattern.exec(text) ?? []
  if (name === '' || name.length > imageNameLengthMax) return 'IfNotPresent'
  return tag === 'latest' || (tag === undefined && digest === undefined) ? 'Always' : 'IfNotPresent'
}

/** Fills the sources that Pod volumes and PersistentVolumes have in common. */
export function fillVolumeSource(volume: Draft): void {
  fill(child(volume, 'hostPath'), { type: '' })
  fill(child(volume, 'iscsi'), { iscsiInterface: 'default' })
  fill(child(volume, 'rbd'), { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' })
  fill(child(volume, 'azureDisk'), { cachingMode: 'ReadWrite', kind: 'Shared', fsType: 'ext4', readOnly: false })
  fill(child(volume, 'scaleIO'), { storageMode: 'ThinProvisioned', fsType: 'xfs' })
}

function fillProjection(source: Draft): void {
  fill(child(source, 'serviceAccountToken'), { expirationSeconds: 3600 })
  fillDownwardItems(child(source, 'downwardAPI'))
}

function fillDownwardItems(source: Draft | undefined): void {
  for (const item of children(source, 'items')) fillEmpty(child(item, 'fieldRef'), { apiVersion: 'v1' })
}
