import { child, children, type Draft, fill, fillEmpty } from '../../kind/draft.ts'

const readableByAll = 0o644

/** A Pod's volume; one that names no source is an empty directory. */
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

/** An image without a tag, or with the tag `latest`, may change under its name. A digest without a tag never does. */
export function pullPolicyOf(image: unknown): 'Always' | 'IfNotPresent' {
  const [name = '', digest] = typeof image === 'string' ? image.split('@') : []
  const tag = /:([^/:]+)$/.exec(name)?.[1]
  if (tag === undefined) return digest === undefined ? 'Always' : 'IfNotPresent'
  return tag === 'latest' ? 'Always' : 'IfNotPresent'
}

/** The sources that a Pod's volume and a PersistentVolume have in common. */
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
