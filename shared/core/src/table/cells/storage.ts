import { type Names, subdomainLabel } from '../../names.ts'
import {
  ageOf,
  type Cell,
  classNameOf,
  type Data,
  dataOf,
  has,
  isTerminating,
  listOf,
  nameOf,
  type ReadCells,
  textOf,
  textsOf,
} from '../cell.ts'
import { none, printAccessModes, unset } from '../text.ts'

export const storageClassCells: ReadCells = (object, names) => [
  classNameOf(object, names, ['storageclass', 'storageclass.beta']),
  textOf(object, 'provisioner'),
  textOf(object, 'reclaimPolicy', 'Delete'),
  textOf(object, 'volumeBindingMode', 'Immediate'),
  object['allowVolumeExpansion'] === true,
  ageOf(object),
]

export const volumeAttachmentCells: ReadCells = (object) => {
  const spec = dataOf(object, 'spec')
  const volume = textOf(dataOf(spec, 'source'), 'persistentVolumeName')
  const isAttached = dataOf(object, 'status')['attached'] === true
  return [nameOf(object), textOf(spec, 'attacher'), volume, textOf(spec, 'nodeName'), isAttached, ageOf(object)]
}

export const volumeAttributesClassCells: ReadCells = (object) => [nameOf(object), textOf(object, 'driverName'), ageOf(object)]

/** The cells of a StorageVersionMigration; its last true condition is the status. */
export const migrationCells: ReadCells = (object) => {
  const resource = dataOf(dataOf(object, 'spec'), 'resource')
  const group = textOf(resource, 'group')
  const conditions = listOf(dataOf(object, 'status'), 'conditions')
  const last = conditions.filter((one) => one['status'] === 'True' && migrationStates.has(textOf(one, 'type'))).at(-1)
  const place = [textOf(resource, 'resource'), ...(group === '' ? [] : [group])].join('.')
  return [nameOf(object), place, last === undefined ? 'Unknown' : textOf(last, 'type')]
}

const migrationStates: ReadonlySet<string> = new Set(['Running', 'Failed', 'Succeeded'])

export const csiNodeCells: ReadCells = (object) => [nameOf(object), listOf(dataOf(object, 'spec'), 'drivers').length, ageOf(object)]

export const csiDriverCells: ReadCells = (object) => {
  const spec = dataOf(object, 'spec')
  return [
    nameOf(object),
    spec['attachRequired'] !== false,
    spec['podInfoOnMount'] === true,
    spec['storageCapacity'] === true,
    audiencesOf(spec),
    spec['requiresRepublish'] === true,
    textsOf(spec, 'volumeLifecycleModes').join(',') || none,
    ageOf(object),
  ]
}

export function volumeCells(object: Data, names: Names): readonly Cell[] {
  const spec = dataOf(object, 'spec')
  const status = dataOf(object, 'status')
  const claim = dataOf(spec, 'claimRef')
  return [
    nameOf(object),
    textOf(dataOf(spec, 'capacity'), 'storage', '0'),
    printAccessModes(textsOf(spec, 'accessModes')),
    textOf(spec, 'persistentVolumeReclaimPolicy'),
    phaseOf(object, status),
    has(spec, 'claimRef') ? `${textOf(claim, 'namespace')}/${textOf(claim, 'name')}` : '',
    storageClassOf(object, names),
    has(spec, 'volumeAttributesClassName') ? textOf(spec, 'volumeAttributesClassName') : unset,
    textOf(status, 'reason'),
    ageOf(object),
    textOf(spec, 'volumeMode', unset),
  ]
}

export function claimCells(object: Data, names: Names): readonly Cell[] {
  const spec = dataOf(object, 'spec')
  const status = dataOf(object, 'status')
  const volume = textOf(spec, 'volumeName')
  const isBound = volume !== ''
  return [
    nameOf(object),
    phaseOf(object, status),
    volume,
    isBound ? textOf(dataOf(status, 'capacity'), 'storage', '0') : '',
    isBound ? printAccessModes(textsOf(status, 'accessModes')) : '',
    storageClassOf(object, names),
    has(spec, 'volumeAttributesClassName') ? textOf(spec, 'volumeAttributesClassName') : unset,
    ageOf(object),
    textOf(spec, 'volumeMode', unset),
  ]
}

function phaseOf(object: Data, status: Data): string {
  return isTerminating(object) ? 'Terminating' : textOf(status, 'phase')
}

/** The class of a claim or volume; the deprecated annotation takes precedence over the field. */
function storageClassOf(object: Data, names: Names): string {
  const annotations = dataOf(dataOf(object, 'metadata'), 'annotations')
  const annotation = subdomainLabel(names, 'volume.beta', 'storage-class')
  return has(annotations, annotation) ? textOf(annotations, annotation) : textOf(dataOf(object, 'spec'), 'storageClassName')
}

function audiencesOf(spec: Data): string {
  if (!has(spec, 'tokenRequests')) return unset
  return listOf(spec, 'tokenRequests')
    .map((request) => textOf(request, 'audience'))
    .join(',')
}
