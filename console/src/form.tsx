interface FieldProps {
  readonly name: string
  readonly label: string
  /** Shown while it is empty. */
  readonly example: string
}

/** A field of a form for a text. */
export function Field({ name, label, example }: FieldProps) {
  return (
    <label>
      <span>{label}</span>
      <input name={name} placeholder={example} />
    </label>
  )
}

/** The fields of a form that have a text. */
export function fieldsOf(event: SubmitEvent): Readonly<Record<string, string>> {
  event.preventDefault()
  const fields = [...new FormData(event.currentTarget as HTMLFormElement)].map(([name, value]) => [name, String(value).trim()])
  return Object.fromEntries(fields.filter(([, value]) => value !== ''))
}
