import type { SettingType } from '@orch/platform'

/** Pairs of files with the names that they are for; names have commas between, so that semicolons are between pairs. */
export const namedPairs: SettingType<readonly NamedFiles[]> = {
  word: 'cert,key[:names]',
  expected: 'the files of a certificate and its key, such as a.crt,a.key, or a.crt,a.key:example.com,*.example.com with names',
  isList: true,
  between: ';',
  parse(text) {
    const pairs = text === '' ? [] : text.split(';').map(readNamedFiles)
    return pairs.includes(undefined) ? undefined : pairs.filter((pair) => pair !== undefined)
  },
}

/** A certificate and its key in files, and the names that they are for; none: those of the certificate. */
export interface NamedFiles {
  readonly certificateFile: string
  readonly keyFile: string
  readonly names: readonly string[]
}

function readNamedFiles(text: string): NamedFiles | undefined {
  const colon = text.lastIndexOf(':')
  const [certificateFile = '', keyFile = '', ...rest] = (colon < 0 ? text : text.slice(0, colon)).split(',').map((file) => file.trim())
  const names = colon < 0 ? [] : text.slice(colon + 1).split(',')
  const isName = (name: string) => /^(?:\*\.)?(?:[a-z0-9](?:[-a-z0-9]*[a-z0-9])?\.)*[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/i.test(name)
  if (certificateFile === '' || keyFile === '' || rest.length > 0 || !names.every(isName)) return undefined
  return { certificateFile, keyFile, names }
}
