/** A block of a text in PEM. */
export interface PemBlock {
  readonly type: string
  readonly hasHeaders: boolean
  readonly bytes: Buffer
}

/** The blocks of a PEM text, read line by line, since a regular expression on the whole text would take quadratic time. */
export function pemBlocks(pem: string): PemBlock[] {
  const blocks: PemBlock[] = []
  let open: { readonly type: string; hasHeaders: boolean; readonly lines: string[] } | undefined
  for (const line of pem.split('\n').map((text) => text.trim())) {
    const [, mark, type = ''] = /^-----(BEGIN|END) ([^-]+)-----$/.exec(line) ?? []
    if (mark === 'BEGIN') open = { type, hasHeaders: false, lines: [] }
    else if (open === undefined) continue
    else if (mark === 'END') {
      if (open.type === type) blocks.push({ ...open, bytes: Buffer.from(open.lines.join(''), 'base64') })
      open = undefined
    } else if (open.lines.length === 0 && line.includes(':')) open.hasHeaders = true
    else if (/^[A-Za-z0-9+/=]*$/.test(line)) open.lines.push(...(line === '' ? [] : [line]))
    else open = undefined
  }
  return blocks
}
