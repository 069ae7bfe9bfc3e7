import type { FieldError } from '../../../meta/status.ts'
import { duplicateValue, forbiddenValue, invalidValue, unsupportedValue } from '../../../validation/field-errors.ts'
import { itemsOf, optionalPart, type Part, partOf, textOf } from '../../../validation/part.ts'
import type { RuleContext } from '../../../validation/rule-book.ts'
import { isGiven, notFoundValue, requireText } from '../checks.ts'
import { validateDescendingPath } from './paths.ts'
import { type Volumes, volumesIn } from './pod-context.ts'

const propagations = ['Bidirectional', 'HostToContainer', 'None']

export function validateVolumeMounts(errors: FieldError[], container: Part, place: string, context: RuleContext): void {
  const [path, volumes] = [`${place}.volumeMounts`, volumesIn(context)]
  const mounts = itemsOf(container, 'volumeMounts')
  const devices = itemsOf(container, 'volumeDevices')
  const used = { names: new Set(devices.map(({ name }) => name)), paths: new Set(devices.map(({ devicePath }) => devicePath)) }
  const paths = new Set<string>()
  for (const [index, mount] of mounts.entries()) {
    const at = `${path}[${index}]`
    const name = textOf(mount, 'name')
    requireText(errors, { part: mount, name: 'name', at })
    if (!volumes.has(name)) errors.push(notFoundValue(`${at}.name`, name))
    requireText(errors, { part: mount, name: 'mountPath', at })
    const mountPath = textOf(mount, 'mountPath')
    if (paths.has(mountPath)) errors.push(invalidValue(`${at}.mountPath`, mountPath, 'must be unique'))
    paths.add(mountPath)
    if (devices.length > 0) refuseDoubleUse(errors, mount, used, at)
    validateSubPath(errors, mount, at, path)
    if (isGiven(mount, 'mountPropagation')) validatePropagation(errors, mount, container, `${path}.mountPropagation`)
    validateMountOptions(errors, mount, volumes.get(name), at)
    if (isGiven(mount, 'recursiveReadOnly')) validateRecursion(errors, mount, `${path}.recursiveReadOnly`)
  }
}

const mountOptions = ['nodev', 'noexec', 'nosuid']

function validateMountOptions(errors: FieldError[], mount: Part, volume: Part | undefined, at: string): void {
  const options = itemsOf<string>(mount, 'bindMountOptions')
  const field = `${at}.bindMountOptions`
  const seen = new Set<string>()
  for (const [index, option] of options.entries()) {
    if (!mountOptions.includes(option)) errors.push(unsupportedValue(`${field}[${index}]`, option, mountOptions))
    if (seen.has(option)) errors.push(duplicateValue(`${field}[${index}]`, option))
    seen.add(option)
  }
  if (options.length === 0 || volume === undefined || !isGiven(volume, 'image')) return
  errors.push(invalidValue(field, options, 'bindMountOptions may not be used with image volumes'))
}

/** The names and paths of a container's block devices. */
interface UsedByDevices {
  readonly names: ReadonlySet<unknown>
  readonly paths: ReadonlySet<unknown>
}

function refuseDoubleUse(errors: FieldError[], mount: Part, used: UsedByDevices, at: string): void {
  const { name, mountPath } = mount
  if (used.names.has(name)) {
    errors.push(invalidValue(`${at}.name`, name, 'must not already exist in volumeDevices'))
  }
  if (used.paths.has(mountPath)) {
    errors.push(invalidValue(`${at}.mountPath`, mountPath, 'must not already exist as a path in volumeDevices'))
  }
}

function validateSubPath(errors: FieldError[], mount: Part, at: string, path: string): void {
  const subPath = textOf(mount, 'subPath')
  const expression = textOf(mount, 'subPathExpr')
  if (subPath !== '') validateDescendingPath(errors, subPath, `${path}.subPath`)
  if (expression === '') return
  if (subPath !== '') errors.push(invalidValue(`${at}.subPathExpr`, expression, 'subPathExpr and subPath are mutually exclusive'))
  validateDescendingPath(errors, expression, `${path}.subPathExpr`)
}

function validatePropagation(errors: FieldError[], mount: Part, container: Part, path: string): void {
  const propagation = textOf(mount, 'mountPropagation')
  if (!propagations.includes(propagation)) errors.push(unsupportedValue(path, propagation, propagations))
  const isPrivileged = partOf(container, 'securityContext')['privileged'] === true
  if (propagation === 'Bidirectional' && !isPrivileged) {
    errors.push(forbiddenValue(path, 'Bidirectional mount propagation is available only to privileged containers'))
  }
}

const recursions = ['Disabled', 'Enabled', 'IfPossible']

/** Recursive read-only mounts must be read-only, and must not propagate mounts. */
function validateRecursion(errors: FieldError[], mount: Part, path: string): void {
  const recursion = textOf(mount, 'recursiveReadOnly')
  if (!recursions.includes(recursion)) errors.push(unsupportedValue(path, recursion, recursions))
  else if (recursion !== 'Disabled') {
    const refuse = (when: string): void => void errors.push(forbiddenValue(path, `may only be specified when ${when}`))
    if (mount['readOnly'] !== true) refuse('readOnly is true')
    const propagation = mount['mountPropagation'] ?? 'None'
    if (propagation !== 'None') refuse('mountPropagation is None or not specified')
  }
}

/** Validates the block devices of a container. */
export function validateVolumeDevices(errors: FieldError[], container: Part, place: string, context: RuleContext): void {
  const [path, volumes] = [`${place}.volumeDevices`, volumesIn(context)]
  const devices = itemsOf(container, 'volumeDevices')
  if (devices.length === 0) return
  const mounts = itemsOf(container, 'volumeMounts')
  const names = new Set<string>()
  const paths = new Set<string>()
  for (const [index, device] of devices.entries()) {
    const at = `${path}[${index}]`
    validateDeviceName(errors, { name: textOf(device, 'name'), names, at }, volumes)
    validateDevicePath(errors, textOf(device, 'devicePath'), paths, at)
    for (const mount of mounts) {
      if (mount['name'] === device['name'])
        errors.push(invalidValue(`${at}.name`, device['name'], 'must not already exist in volumeMounts'))
      if (mount['mountPath'] !== device['devicePath']) continue
      errors.push(invalidValue(`${at}.devicePath`, device['devicePath'], 'must not already exist as a path in volumeMounts'))
    }
  }
}

interface DeviceName {
  readonly name: string
  /** The names of earlier devices. */
  readonly names: Set<string>
  readonly at: string
}

function validateDeviceName(errors: FieldError[], { name, names, at }: DeviceName, volumes: Volumes): void {
  requireText(errors, { part: { name }, name: 'name', at })
  if (names.has(name)) errors.push(invalidValue(`${at}.name`, name, 'must be unique'))
  const volume = volumes.get(name)
  if (volume === undefined) errors.push(notFoundValue(`${at}.name`, name))
  else if (optionalPart(volume, 'persistentVolumeClaim') === undefined && optionalPart(volume, 'ephemeral') === undefined) {
    const detail = 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode'
    errors.push(invalidValue(`${at}.name`, name, detail))
  }
  if (name !== '') names.add(name)
}

function validateDevicePath(errors: FieldError[], devicePath: string, paths: Set<string>, at: string): void {
  requireText(errors, { part: { devicePath }, name: 'devicePath', at })
  if (paths.has(devicePath)) errors.push(invalidValue(`${at}.devicePath`, devicePath, 'must be unique'))
  if (devicePath.split('/').includes('..')) {
    errors.push(invalidValue(`${at}.devicePath`, devicePath, "can not contain backsteps ('..')"))
  } else paths.add(devicePath)
}
