/** String formats the API server checks; it ignores all others. */
const formats: Readonly<Record<string, (text: string) => boolean>> = {
  "date-time": isDateTime,
  datetime: isDateTime,
  date: isDate,
  byte: (text) => /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text),
  uuid: (text) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text),
  ipv4: (text) => /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.|$)){4}$/.test(text),
};

export function isSupportedFormat(format: string): boolean {
  return Object.hasOwn(formats, format);
}

export function matchesFormat(format: string, text: string): boolean {
  return formats[format]?.(text) ?? true;
}

function isDate(text: string): boolean {
  const day = new Date(`${text}T00:00:00Z`);
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text); // no 30 February
}

const timeOfDay = /^(\d{2}):(\d{2}):(\d{2})(?:.\d+)?(?:z|[+-]\d{2}:\d{2})$/;

/** As lenient as the API server: any offset, any character before the fraction; no leap seconds. */
function isDateTime(text: string): boolean {
  const [date = "", time = ""] = text.toLowerCase().split("t");
  const [, hours = "", minutes = "", seconds = ""] = timeOfDay.exec(time) ?? [];
  return isDate(date) && hours !== "" && hours <= "23" && minutes <= "59" && seconds <= "59";
}
