import { atomicSince30, field, needed, pointer, required } from '../description/fields.ts'
import type { TextFormat } from '../description/node.ts'
import { struct } from '../description/structs.ts'
import { string, text } from '../description/texts.ts'
import { boolean, int32, list, map, ref } from '../description/values.ts'

/** The type of a volume's file system. */
export const fsType = (tag: number) =>
  field(string(), tag, 'Type of the file system, such as ext4 or xfs, which the node must support. Unset lets the system choose.')

const monitors = (tag: number) =>
  atomicSince30(list(string()), tag, { needed: true, required: true, doc: 'Addresses of the Ceph monitors. At least one.' })

/** A Ceph file system. `secret` is the type of the reference to its secret, as in the volumes below. */
export const cephFsVolume = <Secret extends string>(secret: Secret) =>
  struct('A Ceph file system.', () => ({
    monitors: monitors(1),
    path: field(string(), 2, 'Directory that is mounted. Default: /.'),
    user: field(string(), 3, 'User for the monitors. Default: admin.'),
    secretFile: field(string(), 4, 'File of the node with the key of the user. Default: /etc/ceph/user.secret.'),
    secretRef: pointer(ref(secret), 5, 'Secret with the key of the user. Used before secretFile.'),
    readOnly: field(boolean(), 6, 'Mount read-only. Default: false.'),
  }))

/** A disk of OpenStack. */
export const cinderVolume = <Secret extends string>(secret: Secret) =>
  struct('A disk of OpenStack Cinder. It must be in the region of the node.', () => ({
    volumeID: needed(string(), 1, { required: true, doc: 'Identity of the disk.' }),
    fsType: fsType(2),
    readOnly: field(boolean(), 3, 'Mount read-only. Default: false.'),
    secretRef: pointer(ref(secret), 4, 'Secret with the data for connecting to OpenStack.'),
  }))

/** A volume of a program on the node. */
export const flexVolume = <Secret extends string>(secret: Secret) =>
  struct('A volume made by a program on the node.', () => ({
    driver: needed(string(), 1, { required: true, doc: 'Name of the program.' }),
    fsType: field(string(), 2, 'Type of the file system, such as ext4. Unset leaves it to the program.'),
    secretRef: pointer(ref(secret), 3, 'Secret whose values are passed to the program.'),
    readOnly: field(boolean(), 4, 'Mount read-only. Default: false.'),
    options: field(map(string()), 5, 'Options that are passed to the program.'),
  }))

/** A disk reached over iSCSI; the checked form of its name differs. */
export const iscsiVolume = <Secret extends string>(secret: Secret, name: TextFormat) =>
  struct('A disk reached over iSCSI. Only one node can write to it.', () => ({
    targetPortal: needed(string(), 1, { required: true, doc: 'Address of the target, with a port unless it is the usual 3260.' }),
    iqn: needed(text(name), 2, { required: true, doc: 'Qualified name of the target.' }),
    lun: required(int32({ min: 0, max: 255 }), 3, 'Number of the unit at the target.'),
    iscsiInterface: field(string(), 4, { changes: { 31: { default: 'default' } }, doc: 'Name of the interface. Default: default (tcp).' }),
    fsType: fsType(5),
    readOnly: field(boolean(), 6, 'Mount read-only. Default: false.'),
    portals: atomicSince30(list(string()), 7, 'Further addresses of the target.'),
    chapAuthDiscovery: field(boolean(), 8, 'True if discovery is authenticated with CHAP. Default: false.'),
    chapAuthSession: field(boolean(), 11, 'True if the session is authenticated with CHAP. Default: false.'),
    secretRef: pointer(ref(secret), 10, 'Secret with the CHAP credentials of target and initiator.'),
    initiatorName: pointer(string(), 12, 'Name of the initiator. If set with iscsiInterface, a new interface is made for the connection.'),
  }))

/** A block device of a Ceph cluster. */
export const rbdVolume = <Secret extends string>(secret: Secret) =>
  struct('A block device of a Ceph cluster.', () => ({
    monitors: monitors(1),
    image: needed(string(), 2, { required: true, doc: 'Name of the image.' }),
    fsType: fsType(3),
    pool: field(string(), 4, { changes: { 31: { default: 'rbd' } }, doc: 'Pool of the image. Default: rbd.' }),
    user: field(string(), 5, { changes: { 31: { default: 'admin' } }, doc: 'User for the monitors. Default: admin.' }),
    keyring: field(string(), 6, {
      changes: { 31: { default: '/etc/ceph/keyring' } },
      doc: 'File of the node with the keys of the user. Default: /etc/ceph/keyring.',
    }),
    secretRef: pointer(ref(secret), 7, 'Secret with the key of the user. Used before keyring.'),
    readOnly: field(boolean(), 8, 'Mount read-only. Default: false.'),
  }))

/** A ScaleIO volume. */
export const scaleIoVolume = <Secret extends string>(secret: Secret) =>
  struct('A ScaleIO volume.', () => ({
    gateway: needed(string(), 1, { required: true, doc: 'Address of the gateway.' }),
    system: needed(string(), 2, { required: true, doc: 'Name of the storage system.' }),
    secretRef: pointer(ref(secret), 3, { required: true, doc: 'Secret with user and password. Without it logging in fails.' }),
    sslEnabled: field(boolean(), 4, 'True if the gateway is reached over TLS. Default: false.'),
    protectionDomain: field(string(), 5, 'Protection domain of the storage.'),
    storagePool: field(string(), 6, 'Storage pool in the domain.'),
    storageMode: field(string(), 7, {
      changes: { 31: { default: 'ThinProvisioned' } },
      doc: 'ThickProvisioned or ThinProvisioned (the default).',
    }),
    volumeName: needed(string(), 8, 'Name of an existing volume.'),
    fsType: field(string(), 9, {
      changes: { 31: { default: 'xfs' } },
      doc: 'Type of the file system, such as ext4 or xfs, which the node must support. Default: xfs.',
    }),
    readOnly: field(boolean(), 10, 'Mount read-only. Default: false.'),
  }))

/** A StorageOS volume. */
export const storageOsVolume = <Secret extends string>(secret: Secret) =>
  struct('A StorageOS volume.', () => ({
    volumeName: needed(text('label'), 1, 'Name of the volume, unique in its StorageOS namespace.'),
    volumeNamespace: field(text('label'), 2, 'StorageOS namespace of the volume. Default: the namespace of the pod.'),
    fsType: fsType(3),
    readOnly: field(boolean(), 4, 'Mount read-only. Default: false.'),
    secretRef: pointer(ref(secret), 5, 'Secret with the credentials of the StorageOS interface. Unset means the default ones.'),
  }))

/** A file share of Azure. */
export const azureFileMembers = () => ({
  secretName: needed(string(), 1, { required: true, doc: 'Secret with name and key of the storage account.' }),
  shareName: needed(string(), 2, { required: true, doc: 'Name of the share.' }),
  readOnly: field(boolean(), 3, 'Mount read-only. Default: false.'),
})

/** A Glusterfs volume. */
export const glusterfsMembers = () => ({
  endpoints: needed(string(), 1, { required: true, doc: 'Endpoints object with the addresses of the servers.' }),
  path: needed(string(), 2, { required: true, doc: 'Name of the volume.' }),
  readOnly: field(boolean(), 3, 'Mount read-only. Default: false.'),
})
