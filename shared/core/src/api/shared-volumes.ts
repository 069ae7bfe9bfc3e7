import {
  atomicSince30,
  boolean,
  field,
  int32,
  list,
  map,
  needed,
  pointer,
  ref,
  required,
  string,
  struct,
  text,
} from '../description/define.ts'
import type { TextFormat } from '../description/node.ts'

/** The type of a volume's file system. */
export const fsType = (tag: number) =>
  field(string(), { tag, doc: 'Type of the file system, such as ext4 or xfs, which the node must support. Unset lets the system choose.' })

const monitors = (tag: number) =>
  atomicSince30(list(string()), { needed: true, tag, required: true, doc: 'Addresses of the Ceph monitors. At least one.' })

/** A Ceph file system. `secret` is the type of the reference to its secret, as in the volumes below. */
export const cephFsVolume = <Secret extends string>(secret: Secret) =>
  struct('A Ceph file system.', () => ({
    monitors: monitors(1),
    path: field(string(), { tag: 2, doc: 'Directory that is mounted. Default: /.' }),
    user: field(string(), { tag: 3, doc: 'User for the monitors. Default: admin.' }),
    secretFile: field(string(), { tag: 4, doc: 'File of the node with the key of the user. Default: /etc/ceph/user.secret.' }),
    secretRef: pointer(ref(secret), { tag: 5, doc: 'Secret with the key of the user. Used before secretFile.' }),
    readOnly: field(boolean(), { tag: 6, doc: 'Mount read-only. Default: false.' }),
  }))

/** A disk of OpenStack. */
export const cinderVolume = <Secret extends string>(secret: Secret) =>
  struct('A disk of OpenStack Cinder. It must be in the region of the node.', () => ({
    volumeID: needed(string(), { tag: 1, required: true, doc: 'Identity of the disk.' }),
    fsType: fsType(2),
    readOnly: field(boolean(), { tag: 3, doc: 'Mount read-only. Default: false.' }),
    secretRef: pointer(ref(secret), { tag: 4, doc: 'Secret with the data for connecting to OpenStack.' }),
  }))

/** A volume of a program on the node. */
export const flexVolume = <Secret extends string>(secret: Secret) =>
  struct('A volume made by a program on the node.', () => ({
    driver: needed(string(), { tag: 1, required: true, doc: 'Name of the program.' }),
    fsType: field(string(), { tag: 2, doc: 'Type of the file system, such as ext4. Unset leaves it to the program.' }),
    secretRef: pointer(ref(secret), { tag: 3, doc: 'Secret whose values are passed to the program.' }),
    readOnly: field(boolean(), { tag: 4, doc: 'Mount read-only. Default: false.' }),
    options: field(map(string()), { tag: 5, doc: 'Options that are passed to the program.' }),
  }))

/** A disk reached over iSCSI; the checked form of its name differs. */
export const iscsiVolume = <Secret extends string>(secret: Secret, name: TextFormat) =>
  struct('A disk reached over iSCSI. Only one node can write to it.', () => ({
    targetPortal: needed(string(), { tag: 1, required: true, doc: 'Address of the target, with a port unless it is the usual 3260.' }),
    iqn: needed(text(name), { tag: 2, required: true, doc: 'Qualified name of the target.' }),
    lun: required(int32({ min: 0, max: 255 }), { tag: 3, doc: 'Number of the unit at the target.' }),
    iscsiInterface: field(string(), {
      tag: 4,
      changes: { 31: { default: 'default' } },
      doc: 'Name of the interface. Default: default (tcp).',
    }),
    fsType: fsType(5),
    readOnly: field(boolean(), { tag: 6, doc: 'Mount read-only. Default: false.' }),
    portals: atomicSince30(list(string()), { tag: 7, doc: 'Further addresses of the target.' }),
    chapAuthDiscovery: field(boolean(), { tag: 8, doc: 'True if discovery is authenticated with CHAP. Default: false.' }),
    chapAuthSession: field(boolean(), { tag: 11, doc: 'True if the session is authenticated with CHAP. Default: false.' }),
    secretRef: pointer(ref(secret), { tag: 10, doc: 'Secret with the CHAP credentials of target and initiator.' }),
    initiatorName: pointer(string(), {
      tag: 12,
      doc: 'Name of the initiator. If set with iscsiInterface, a new interface is made for the connection.',
    }),
  }))

/** A block device of a Ceph cluster. */
export const rbdVolume = <Secret extends string>(secret: Secret) =>
  struct('A block device of a Ceph cluster.', () => ({
    monitors: monitors(1),
    image: needed(string(), { tag: 2, required: true, doc: 'Name of the image.' }),
    fsType: fsType(3),
    pool: field(string(), { tag: 4, changes: { 31: { default: 'rbd' } }, doc: 'Pool of the image. Default: rbd.' }),
    user: field(string(), { tag: 5, changes: { 31: { default: 'admin' } }, doc: 'User for the monitors. Default: admin.' }),
    keyring: field(string(), {
      tag: 6,
      changes: { 31: { default: '/etc/ceph/keyring' } },
      doc: 'File of the node with the keys of the user. Default: /etc/ceph/keyring.',
    }),
    secretRef: pointer(ref(secret), { tag: 7, doc: 'Secret with the key of the user. Used before keyring.' }),
    readOnly: field(boolean(), { tag: 8, doc: 'Mount read-only. Default: false.' }),
  }))

/** A ScaleIO volume. */
export const scaleIoVolume = <Secret extends string>(secret: Secret) =>
  struct('A ScaleIO volume.', () => ({
    gateway: needed(string(), { tag: 1, required: true, doc: 'Address of the gateway.' }),
    system: needed(string(), { tag: 2, required: true, doc: 'Name of the storage system.' }),
    secretRef: pointer(ref(secret), { tag: 3, required: true, doc: 'Secret with user and password. Without it logging in fails.' }),
    sslEnabled: field(boolean(), { tag: 4, doc: 'True if the gateway is reached over TLS. Default: false.' }),
    protectionDomain: field(string(), { tag: 5, doc: 'Protection domain of the storage.' }),
    storagePool: field(string(), { tag: 6, doc: 'Storage pool in the domain.' }),
    storageMode: field(string(), {
      tag: 7,
      changes: { 31: { default: 'ThinProvisioned' } },
      doc: 'ThickProvisioned or ThinProvisioned (the default).',
    }),
    volumeName: needed(string(), { tag: 8, doc: 'Name of an existing volume.' }),
    fsType: field(string(), {
      tag: 9,
      changes: { 31: { default: 'xfs' } },
      doc: 'Type of the file system, such as ext4 or xfs, which the node must support. Default: xfs.',
    }),
    readOnly: field(boolean(), { tag: 10, doc: 'Mount read-only. Default: false.' }),
  }))

/** A StorageOS volume. */
export const storageOsVolume = <Secret extends string>(secret: Secret) =>
  struct('A StorageOS volume.', () => ({
    volumeName: needed(text('label'), { tag: 1, doc: 'Name of the volume, unique in its StorageOS namespace.' }),
    volumeNamespace: field(text('label'), { tag: 2, doc: 'StorageOS namespace of the volume. Default: the namespace of the pod.' }),
    fsType: fsType(3),
    readOnly: field(boolean(), { tag: 4, doc: 'Mount read-only. Default: false.' }),
    secretRef: pointer(ref(secret), {
      tag: 5,
      doc: 'Secret with the credentials of the StorageOS interface. Unset means the default ones.',
    }),
  }))

/** A file share of Azure. */
export const azureFileMembers = () => ({
  secretName: needed(string(), { tag: 1, required: true, doc: 'Secret with name and key of the storage account.' }),
  shareName: needed(string(), { tag: 2, required: true, doc: 'Name of the share.' }),
  readOnly: field(boolean(), { tag: 3, doc: 'Mount read-only. Default: false.' }),
})

/** A Glusterfs volume. */
export const glusterfsMembers = () => ({
  endpoints: needed(string(), { tag: 1, required: true, doc: 'Endpoints object with the addresses of the servers.' }),
  path: needed(string(), { tag: 2, required: true, doc: 'Name of the volume.' }),
  readOnly: field(boolean(), { tag: 3, doc: 'Mount read-only. Default: false.' }),
})
