"""The administrators' own addresses."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import member_of
from accounts.serializers.members import MemberBody, MemberRowBody
from administration import default_categories, members
from administration.member_list import MemberFilter, read_page_of_members
from administration.serializers import (
    DefaultCategoryBody,
    MemberQuery,
    PlanBody,
    RoleBody,
    SignupSwitchBody,
    StatusBody,
    describe_default_category,
)
from administration.switches import is_signup_enabled, set_signup_enabled
from config.api.ordering import ReorderBody
from config.api.pagination import PageQuery, page_body, read_page
from config.api.permissions import IsAdministrator
from config.api.schema import page_of
from config.api.serializers import read_body, read_query


class SignupSwitchView(APIView):
    permission_classes = [IsAdministrator]

    @extend_schema(responses=SignupSwitchBody)
    def get(self, request: Request) -> Response:
        """Whether sign-up is open."""
        return Response({"enabled": is_signup_enabled()})

    @extend_schema(request=SignupSwitchBody, responses=SignupSwitchBody)
    def put(self, request: Request) -> Response:
        """Open or close sign-up, at once and for everybody."""
        enabled = read_body(SignupSwitchBody, request)["enabled"]
        set_signup_enabled(enabled=enabled, by=member_of(request))
        return self.get(request)


class MembersView(APIView):
    permission_classes = [IsAdministrator]

    @extend_schema(
        operation_id="admin_members_list",
        parameters=[MemberQuery, PageQuery],
        responses=page_of(MemberRowBody),
    )
    def get(self, request: Request) -> Response:
        """All members, the newest first, without profile images.

        A search counts 10,000 hits at most, and its pages end there.
        """
        page = read_page(request)
        wanted = MemberFilter(**read_query(MemberQuery, request))
        count, rows = read_page_of_members(wanted, page, timezone.now())
        body = MemberRowBody(rows, many=True).data
        return Response(page_body(request, page, count, body))


class MemberView(APIView):
    permission_classes = [IsAdministrator]

    @extend_schema(operation_id="admin_members_retrieve", responses=MemberBody)
    def get(self, request: Request, member_id: int) -> Response:
        return Response(MemberBody(members.find_member(member_id)).data)

    @extend_schema(operation_id="admin_members_destroy", responses={204: None})
    def delete(self, request: Request, member_id: int) -> Response:
        """Delete a member and all their data; never oneself."""
        members.delete_member(member_of(request), member_id)
        return Response(status=status.HTTP_204_NO_CONTENT)


class RoleView(APIView):
    permission_classes = [IsAdministrator]

    @extend_schema(request=RoleBody, responses=MemberBody)
    def put(self, request: Request, member_id: int) -> Response:
        """Make a member an administrator, or an administrator a member; at once."""
        members.find_other(member_of(request), member_id)
        role = read_body(RoleBody, request)["role"]
        member = members.set_role(member_of(request), member_id, role)
        return Response(MemberBody(member).data)


class StatusView(APIView):
    permission_classes = [IsAdministrator]

    @extend_schema(request=StatusBody, responses=MemberBody)
    def put(self, request: Request, member_id: int) -> Response:
        """Suspend a member, which ends their sessions at once, or take them back."""
        members.find_other(member_of(request), member_id)
        wanted = read_body(StatusBody, request)["status"]
        member = members.set_status(member_of(request), member_id, wanted)
        return Response(MemberBody(member).data)


class PlanView(APIView):
    permission_classes = [IsAdministrator]

    @extend_schema(request=PlanBody, responses=MemberBody)
    def put(self, request: Request, member_id: int) -> Response:
        """Set the plan for good: without expiry, the subscription forgotten."""
        members.find_other(member_of(request), member_id)
        plan = read_body(PlanBody, request)["plan"]
        member = members.set_plan(member_of(request), member_id, plan)
        return Response(MemberBody(member).data)


class DefaultCategoriesView(APIView):
    permission_classes = [IsAdministrator]

    @extend_schema(responses=DefaultCategoryBody(many=True))
    def get(self, request: Request) -> Response:
        """A flat list: each major category, followed by its minor ones."""
        rows = default_categories.list_default_categories()
        return Response([describe_default_category(row) for row in rows])

    @extend_schema(request=DefaultCategoryBody, responses={201: DefaultCategoryBody})
    def post(self, request: Request) -> Response:
        """A new category goes last among its siblings."""
        body = read_body(DefaultCategoryBody, request)
        row = default_categories.create_default_category(member_of(request), body)
        return Response(describe_default_category(row), status=status.HTTP_201_CREATED)


class DefaultCategoryView(APIView):
    permission_classes = [IsAdministrator]

    @extend_schema(responses=DefaultCategoryBody)
    def get(self, request: Request, category_id: int) -> Response:
        row = default_categories.find_default_category(category_id)
        return Response(describe_default_category(row))

    @extend_schema(request=DefaultCategoryBody, responses=DefaultCategoryBody)
    def put(self, request: Request, category_id: int) -> Response:
        """A new name or place; members' own categories stay as they are."""
        return self._change(request, category_id, partial=False)

    @extend_schema(request=DefaultCategoryBody, responses=DefaultCategoryBody)
    def patch(self, request: Request, category_id: int) -> Response:
        return self._change(request, category_id, partial=True)

    def _change(self, request: Request, category_id: int, *, partial: bool) -> Response:
        default_categories.find_default_category(category_id)
        body = read_body(DefaultCategoryBody, request, partial=partial)
        row = default_categories.change_default_category(
            member_of(request), category_id, body
        )
        return Response(describe_default_category(row))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, category_id: int) -> Response:
        """A major category with minor ones is kept: 400 CATEGORY_HIERARCHY."""
        default_categories.delete_default_category(member_of(request), category_id)
        return Response(status=status.HTTP_204_NO_CONTENT)


class DefaultCategoryOrderView(APIView):
    permission_classes = [IsAdministrator]

    @extend_schema(request=ReorderBody, responses=DefaultCategoryBody(many=True))
    def put(self, request: Request) -> Response:
        """The ids are those of one type and one parent."""
        ids = read_body(ReorderBody, request)["ids"]
        default_categories.reorder_default_categories(member_of(request), ids)
        rows = default_categories.list_default_categories()
        return Response([describe_default_category(row) for row in rows])
