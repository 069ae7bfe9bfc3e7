/**
 * Words that the project's prose avoids, each with a plainer alternative. Comments, texts, documents and deployments are checked; of tests, titles and
 * comments.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './root.mjs'

const forbidden = [
  { pattern: /\b(?:nobody|somebody|no one)\b/i, advice: 'name the subject: no client, another user, none' },
  { pattern: /\bwhoever\b/i, advice: 'name the subject: any client that, the caller' },
  { pattern: /\b(?:is|are|was|were|be|been) told\b|\btold to\b/i, advice: 'receives, is reported, is logged, is known' },
  { pattern: /\bof its own accord\b/i, advice: 'by itself, unasked' },
  { pattern: /\bthe real server\b/i, advice: 'kube-apiserver' },
  { pattern: /\bthat there (?:is|are) not\b/i, advice: 'unknown, absent' },
]

/** Words that begin a relative clause instead of a sentence in a comment. */
const clause = {
  pattern:
    /(?<=^\s*(?:\/\*\*?|\*|\/\/) )(?:What|Whether|Where|Who|Whose|Those|Which|How|So (?:many|long|much|often)|(?:As|At|By|For|From|In|Of|On|Since|To|Until|With) (?:how|what|when|which|whom|whose))\b/,
  advice: 'begin with the subject: True if, The place of, The rules that',
}

/** The same rule for a text, such as the description of a field, column, flag or metric. */
const textClause = { ...clause, pattern: /(?<=^\s*['"`]|(?<!\btitle): ['"`])(?:What|Whether|Where|Who|Whose|Those|Which|How|Why) [a-z]/ }

/** The numbered statements of the specification, and the rules themselves. */
const exempt = [/^docs\/reference\/requirements\.md$/, /^scripts\/check-words/]
const checked = /\.(?:ts|mjs|md)$|^deploy\/(?:.*\/)?[^/]+\.(?:yaml|conf|sh)$/

/** Tests may contain any text in requests and expectations, such as a user nobody. */
const test = /\.test\.m?[jt]s$|^test\//
const comment = /^\s*(?:\/\/|\/\*|\*)|\s\/\/ /
const title = /(?:\b(?:test|describe)\b[\w.]*(?:\([^)]*\))?\(|\]\)\(|\)\)\()\s*['"`]/

/** The command: prints each violation, and returns 1 if there are any. */
export function main() {
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root, encoding: 'utf8' }).split('\n')
  const violations = files.filter(isChecked).flatMap((file) => checkWords(file, readIfThere(join(root, file))))
  for (const violation of violations) process.stderr.write(`${violation}\n`)
  if (violations.length === 0) process.stdout.write('The prose avoids the forbidden words.\n')
  return violations.length === 0 ? 0 : 1
}

/** True if the words of a file are checked. */
export function isChecked(file) {
  return checked.test(file) && !exempt.some((pattern) => pattern.test(file))
}

/** A file that is deleted but not yet committed has no words. */
function readIfThere(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** The violations of a text, at most one for each line. Blocks of code in documents are terminal output; in tests only titles and comments are prose. */
export function checkWords(file, text) {
  let isBlock = false
  return text.split('\n').flatMap((line, index, lines) => {
    if (file.endsWith('.md') && line.startsWith('```')) isBlock = !isBlock
    if (isBlock || (test.test(file) && !comment.test(line) && !title.test(line))) return []
    const rules = file.endsWith('.md') ? forbidden : [...forbidden, textClause, ...(isStart(line, lines[index - 1]) ? [clause] : [])]
    const found = rules.find(({ pattern }) => pattern.test(line))
    return found === undefined ? [] : [`${file}:${index + 1}: "${found.pattern.exec(line)?.[0]}": ${found.advice}`]
  })
}

/** True if a line starts a comment, and does not continue the comment of the previous line. */
function isStart(line, before = '') {
  if (/^\s*\/\*/.test(line)) return true
  return /^\s*\*/.test(line) ? /^\s*\/\*\*?\s*$/.test(before) : /^\s*\/\//.test(line) && !/^\s*\/\//.test(before)
}
