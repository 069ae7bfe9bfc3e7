import { isJsonObject } from '@orch/core/json'

type Fields = Readonly<Record<string, unknown>>

/** A configuration, or its problems: each names the field, and the expected value. */
export type Reading<T> = ({ readonly kind: 'configuration' } & T) | { readonly kind: 'refused'; readonly problems: readonly string[] }

/** Reads the fields of a configuration file, and collects its errors, which name the fields like kube-apiserver. */
export class FieldReader {
  readonly problems: string[] = []

  /** The configuration that was read, unless there are problems. */
  reading<T extends object>(read: T): Reading<T> {
    return this.problems.length === 0 ? { kind: 'configuration', ...read } : { kind: 'refused', problems: this.problems }
  }

  /** Checks the beginning of every configuration: its kind and its version. */
  protected root(
    value: unknown,
    { kind, apiVersions, known }: { kind: string; apiVersions: readonly string[]; known: readonly string[] },
  ): Fields {
    const fields = this.fields(value, '', ['apiVersion', 'kind', ...known])
    const { apiVersion } = fields
    if (typeof apiVersion !== 'string' || !apiVersions.includes(apiVersion)) {
      this.invalid('apiVersion', apiVersion, `must be ${apiVersions.join(' or ')}`)
    }
    if (fields['kind'] !== kind) this.invalid('kind', fields['kind'], `must be ${kind}`)
    return fields
  }

  /** An object; unknown fields are problems. */
  protected fields(value: unknown, path: string, known: readonly string[]): Fields {
    if (!isJsonObject(value)) {
      this.invalid(path, value, 'must be an object')
      return {}
    }
    for (const name of Object.keys(value)) {
      if (!known.includes(name)) this.problems.push(`unknown field ${JSON.stringify(path === '' ? name : `${path}.${name}`)}`)
    }
    return value
  }

  /** Empty for absent and null. */
  protected list(value: unknown, path: string): readonly unknown[] {
    if (value === undefined || value === null) return []
    if (Array.isArray(value)) return value
    this.invalid(path, value, 'must be a list')
    return []
  }

  protected text(value: unknown, path: string): string {
    if (typeof value === 'string') return value
    this.invalid(path, value, 'must be a text')
    return ''
  }

  protected invalid(path: string, value: unknown, text: string): void {
    this.problems.push(`${path}: Invalid value: ${JSON.stringify(this.shown(path, value))}: ${text}`)
  }

  protected required(path: string, text = ''): void {
    this.problems.push(`${path}: Required value${text === '' ? '' : `: ${text}`}`)
  }

  protected duplicate(path: string, value: string): void {
    this.problems.push(`${path}: Duplicate value: ${JSON.stringify(value)}`)
  }

  protected unsupported(path: string, value: string, known: readonly string[]): void {
    const names = [...known].sort().map((one) => JSON.stringify(one))
    this.problems.push(`${path}: Unsupported value: ${JSON.stringify(value)}: supported values: ${names.join(', ')}`)
  }

  /** The value of a field in problems. */
  protected shown(_path: string, value: unknown): unknown {
    return value
  }
}
