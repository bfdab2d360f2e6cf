"""The weather, from Open-Meteo: a place, today or a day within its forecast."""

from __future__ import annotations

import tomllib
from datetime import date
from functools import lru_cache
from http import HTTPStatus
from pathlib import Path
from typing import Any

from surefoot.errors import ToolError
from surefoot.tools.dates import resolve_date
from surefoot.tools.dates.moment import show
from surefoot.tools.dates.words import base_of
from surefoot.tools.decorator import tool
from surefoot.tools.kits import fetching
from surefoot.tools.types import Context

DAILY = ("weather_code", "temperature_2m_max", "temperature_2m_min", "precipitation_sum",
         "precipitation_probability_max", "wind_speed_10m_max")  # fmt: skip
CURRENT = ("temperature_2m", "weather_code", "wind_speed_10m")
WHOSE = "The weather service"


@tool(
    name="getWeather",
    kit="weather",
    effect="read",
    timeout=2 * fetching.SECONDS + 5,
    aliases=("weather", "forecast", "rain", "temperature", "wetter", "regen", "météo", "temps", "tiempo", "lluvia",
             "मौसम", "बारिश", "天气", "下雨", "天気", "雨"),
)  # fmt: skip
async def get_weather(ctx: Context, place: str, day: str | None = None) -> dict[str, Any]:
    """Weather for a place, today or on a day."""
    when = resolve_date(day, ctx.now, ctx.zone, ctx.language).day if day else None
    found = await _place(ctx, place)
    data = await _forecast(ctx, found, when)
    today = _first_day(data)
    if today is None:
        raise ToolError(
            f"There is no forecast for {show(when or ctx.now.date(), ctx.language)}.", "Ask for a nearer day."
        )
    return _told(ctx, found, today, data.get("current") if when is None else None)


async def _place(ctx: Context, name: str) -> dict[str, Any]:
    if not name.strip():
        raise ToolError("The weather needs a place.", "Name a town.")
    params = {"name": name.strip(), "count": "1", "language": base_of(ctx.language), "format": "json"}
    data = await _ask(ctx, ctx.settings.geocoding_url, "/v1/search", params)
    results = data.get("results")
    if not isinstance(results, list) or not results or not isinstance(results[0], dict):
        raise ToolError(f"There is no place {name!r}.", "Name a town, without the country.", place=name)
    place = results[0]
    if not all(isinstance(place.get(key), int | float) for key in ("latitude", "longitude")):
        raise ToolError(f"{WHOSE} does not say where {name!r} lies.", "Name another town.", place=name)
    return place


async def _forecast(ctx: Context, place: dict[str, Any], day: date | None) -> dict[str, Any]:
    params = {
        "latitude": str(place["latitude"]),
        "longitude": str(place["longitude"]),
        "timezone": "auto",
        "daily": ",".join(DAILY),
        **({"current": ",".join(CURRENT), "forecast_days": "1"} if day is None else {}),
        **({} if day is None else {"start_date": day.isoformat(), "end_date": day.isoformat()}),
    }
    return await _ask(ctx, ctx.settings.weather_url, "/v1/forecast", params)


async def _ask(ctx: Context, base: str, path: str, params: dict[str, str]) -> dict[str, Any]:
    from surefoot.models.address import AddressPolicy

    policy = AddressPolicy.for_endpoint(base, ctx.settings)
    status, answer = await fetching.get(
        policy, f"{base.rstrip('/')}{path}", whose=WHOSE, params=params, fail=False
    )
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:  # below that it gives a reason in JSON
        raise ToolError(f"{WHOSE} answered {status}.", "Try again later.", status=status)
    data = answer.json(WHOSE)
    if not isinstance(data, dict):
        raise ToolError(f"{WHOSE} answered with something unexpected.", "Try again later.")
    if data.get("error") or status >= HTTPStatus.BAD_REQUEST:
        reason = str(data.get("reason") or status).rstrip(".")
        raise ToolError(f"{WHOSE} says: {reason}.", "Ask for a nearer day or another place.", status=status)
    return data


def _first_day(data: dict[str, Any]) -> dict[str, Any] | None:
    daily = data.get("daily")
    if not isinstance(daily, dict) or not daily.get("time"):
        return None
    return {key: values[0] for key, values in daily.items() if isinstance(values, list) and values}


def _told(ctx: Context, place: dict[str, Any], today: dict[str, Any], now: Any) -> dict[str, Any]:
    day = date.fromisoformat(str(today["time"]))
    where = ", ".join(str(place[key]) for key in ("name", "admin1", "country") if place.get(key))
    told = {
        "untrusted": True,
        "place": where,
        "day": day.isoformat(),
        "day_text": show(day, ctx.language),
        "sky": _sky(today.get("weather_code")),
        "max_celsius": today.get("temperature_2m_max"),
        "min_celsius": today.get("temperature_2m_min"),
        "rain_mm": today.get("precipitation_sum"),
        "rain_percent": today.get("precipitation_probability_max"),
        "wind_kmh": today.get("wind_speed_10m_max"),
    }
    if isinstance(now, dict):
        told["now_celsius"] = now.get("temperature_2m")
        told["now_sky"] = _sky(now.get("weather_code"))
    kept = {key: value for key, value in told.items() if value is not None}
    return {**kept, "message": _sentence(kept)}


def _sentence(told: dict[str, Any]) -> str:
    parts = [told.get("sky", "")]
    if "min_celsius" in told and "max_celsius" in told:
        parts.append(f"{told['min_celsius']:g} to {told['max_celsius']:g} °C")
    if "rain_percent" in told:
        parts.append(f"rain {told['rain_percent']:g}%")
    return f"{told['place']}, {told['day_text']}: {', '.join(part for part in parts if part)}"


def _sky(code: Any) -> str | None:
    return _codes().get(str(int(code))) if isinstance(code, int | float) else None


@lru_cache(maxsize=1)
def _codes() -> dict[str, str]:
    return tomllib.loads(Path(__file__).with_name("weather_codes.toml").read_text("utf-8"))


TOOLS = [get_weather]
