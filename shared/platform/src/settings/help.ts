import { eachSetting, type Setting, type Settings } from './setting.ts'

/** The help for a terminal: all settings with their defaults, by heading. */
export function printHelp(settings: readonly Setting<unknown>[]): string {
  return grouped(settings)
    .map(([group, members]) => `${group}:\n${members.map(printFlag).join('')}`)
    .join('\n')
}

/** The page of the documentation that lists all settings. */
export function printSettingsPage(settings: Settings, title: string): string {
  const head = `# ${title}\n\nFor operators: each flag with its default, its environment variable and its bounds.\n\nPrecedence: flag, environment variable, file given by \`--config\`, default.\nThe key of a setting in the file is its flag without the leading dashes.\n`
  const sections = grouped(eachSetting(settings)).map(([group, members]) => {
    const rows = members.map(
      (member) =>
        `| \`${member.flag}\` | \`${member.env}\` | ${cell(member.type.word === '' ? 'true or false' : member.type.word)} | ${printDefault(member, '`')} | ${cell(member.doc)}${printFormer(member)} |\n`,
    )
    return `\n## ${group}\n\n| flag | environment | value | default | |\n|---|---|---|---|---|\n${rows.join('')}`
  })
  return head + sections.join('')
}

function grouped(settings: readonly Setting<unknown>[]): [string, Setting<unknown>[]][] {
  return [...Map.groupBy(settings, ({ group }) => group)]
}

function printFlag(member: Setting<unknown>): string {
  const head = `  ${member.flag}${member.type.word === '' ? '' : ` ${member.type.word}`}`
  const shown = printDefault(member, '')
  const text = wrap(`${member.doc}${printFormer(member)}${shown === '' ? '' : ` (default ${shown})`} [${member.env}]`, 84)
  return `${head}\n${text.map((line) => `        ${line}\n`).join('')}`
}

function printFormer({ formerly = [] }: Setting<unknown>): string {
  return formerly.map((flag) => ` Formerly ${flag}, which is deprecated.`).join('')
}

function printDefault(member: Setting<unknown>, quote: string): string {
  const text = member.defaultDoc ?? member.default
  return text === '' ? '' : `${quote}${text}${quote}`
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|')
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + word.length + 1 > width) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}
