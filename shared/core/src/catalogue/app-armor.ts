import { type Names, subdomainLabel } from '../names.ts'
import { bytesOf } from '../validation/texts.ts'

/** The first level at which profiles of AppArmor have fields. */
const fieldsSince = 30

/** The field of a profile. */
export interface AppArmorProfile {
  readonly type: 'Unconfined' | 'RuntimeDefault' | 'Localhost'
  readonly localhostProfile?: string
}

/** True if profiles have fields, which the annotations of a new Pod fill. */
export function hasAppArmorFields({ level, isGateOn }: { readonly level: number; isGateOn(name: string): boolean }): boolean {
  return level >= fieldsSince && isGateOn('AppArmorFields')
}

/** The start of the annotations; the name of a container follows. */
export function appArmorPrefix(names: Names): string {
  return subdomainLabel(names, 'container.apparmor.security.beta', '')
}

/** The warning about an annotation at a path, which a field replaces. */
export function appArmorWarning(path: string, key: string): string {
  return `${path}[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`
}

export const profileBytesMax = 4095
const localhost = 'localhost/'

/** The field that says the same as an annotation; undefined: no valid field does. */
export function profileOfAnnotation(annotation: string): AppArmorProfile | undefined {
  if (annotation === 'unconfined') return { type: 'Unconfined' }
  if (annotation === 'runtime/default') return { type: 'RuntimeDefault' }
  const name = annotation.startsWith(localhost) ? annotation.slice(localhost.length) : ''
  if (name === '' || name.trim() !== name || bytesOf(name) > profileBytesMax) return undefined
  return { type: 'Localhost', localhostProfile: name }
}
