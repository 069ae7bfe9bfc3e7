import type { DefinitionSpec } from './definition-spec.ts'
import { compareVersions } from './version-order.ts'

/** The warning for clients of a deprecated version; undefined for other versions. */
export function deprecationWarningOf(spec: DefinitionSpec, version: string): string | undefined {
  const { deprecated, deprecationWarning } = (spec.versions ?? []).find(({ name }) => name === version) ?? {}
  return deprecated === true ? (deprecationWarning ?? defaultDeprecationWarning(spec, version)) : undefined
}

/** The warning of a version without its own text. It names the best served version that is not deprecated, if that is better. */
export function defaultDeprecationWarning({ group = '', names = {}, versions }: DefinitionSpec, version: string): string {
  const named = (name: string): string => `${group}/${name} ${names.kind ?? ''}`
  const better = (versions ?? [])
    .filter(({ name = '', served, deprecated }) => served === true && deprecated !== true && compareVersions(name, version) < 0)
    .map(({ name = '' }) => name)
    .sort(compareVersions)
  const warning = `${named(version)} is deprecated`
  return better[0] === undefined ? warning : `${warning}; use ${named(better[0])}`
}
